// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::tests {

// Installs the backend `wrong` (wrong_backend.cc) with one thing wrong, or with
// several that have spaces between, and returns the directory to put on the
// plugin path.
std::string InstallWrong(const std::string& wrong);

}  // namespace bulkhead::tests
