// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace bulkhead::cli {

// Holds the memory and the threads that a process uses, by /proc.
struct Usage {
  uint64_t memory_kib = 0;  // private memory that is not of a file
  uint64_t threads = 0;
};

// Returns nullopt if the process is gone or cannot be seen.
std::optional<Usage> UsageOf(int pid);

}  // namespace bulkhead::cli
