// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <chrono>
#include <string>
#include <vector>

namespace bulkhead::cli {

// Runs a program that is found in PATH and waits until it ends, `limit` at
// most. The program inherits stdout and stderr; its stdin is /dev/null. Returns
// kNotFound if it cannot be started, kInternal if it failed, and
// kDeadlineExceeded if it had to be killed.
Status RunProgram(const std::vector<std::string>& arguments,
                  std::chrono::milliseconds limit);

}  // namespace bulkhead::cli
