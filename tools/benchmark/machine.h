// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::benchmark {

// As the kernel names it.
std::string ProcessorName();

}  // namespace bulkhead::benchmark
