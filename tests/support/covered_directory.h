// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::tests {

// Shows an empty directory in place of `directory` to this process and its
// children, with what they write into it; all others see what was there. Each
// call enters a mount namespace of its own, so that what this process mounts
// afterwards is its own too. Call it before the first thread.
//
// Returns why the kernel refused (it needs CAP_SYS_ADMIN), or an empty string.
std::string CoverDirectory(const std::string& directory);

}  // namespace bulkhead::tests
