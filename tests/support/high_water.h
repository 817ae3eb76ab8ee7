// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace bulkhead::tests {

// What a process holds, or the most that it was seen to hold.
struct HighWater {
  int64_t resident_kib = 0;
  int64_t descriptors = 0;
  int64_t threads = 0;

  // Raises each mark to what the process holds now. Leaves the marks of a
  // process that has ended or that this user may not look into.
  void Look(pid_t pid);
};

}  // namespace bulkhead::tests
