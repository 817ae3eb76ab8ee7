// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <chrono>
#include <string>
#include <vector>

namespace bulkhead::cli {

// Runs a program of the machine, found in PATH, with our stdout and stderr and
// no stdin, and waits for it. kNotFound when there is none, kInternal when it
// failed, kDeadlineExceeded when it had to be killed.
Status RunProgram(const std::vector<std::string>& arguments,
                  std::chrono::milliseconds limit);

}  // namespace bulkhead::cli
