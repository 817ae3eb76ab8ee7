// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace bulkhead::cli::conformance {

// The memory and the threads of a process, from /proc.
struct Usage {
  uint64_t memory_kib = 0;  // private anonymous memory (RssAnon)
  uint64_t threads = 0;
};

// Returns the usage of the process `pid`; nullopt if it is gone or cannot be
// seen.
std::optional<Usage> UsageOf(int pid);

}  // namespace bulkhead::cli::conformance
