// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <chrono>
#include <string>
#include <vector>

namespace bulkhead::cli::demo {

// Runs a program, which is looked up in PATH, and waits until it ends. Kills
// the program after `limit`. The program inherits stdout and stderr; its stdin
// is /dev/null. Returns kNotFound if the program cannot be started, kInternal
// if it failed, and kDeadlineExceeded if it was killed because of `limit`.
Status RunProgram(const std::vector<std::string>& arguments,
                  std::chrono::milliseconds limit);

}  // namespace bulkhead::cli::demo
