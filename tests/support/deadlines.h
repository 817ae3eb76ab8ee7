// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "bulkhead/host_options.h"
#include "tests/support/sanitizers.h"

namespace bulkhead::tests {

// Returns deadlines that no sound process misses, however busy the machine is.
// A test in which something hangs shortens those that end it. That of `close`
// is the usual one: it passes wherever a worker only claims to be dead.
inline Deadlines PatientDeadlines() {
  constexpr std::chrono::milliseconds kMinute{60'000};
  return {.supervisor_start = kMinute,
          .backend_start = kMinute,
          .worker_start = kMinute,
          .open = kMinute,
          .scan = kMinute,
          .seek = kMinute,
          .frame = kMinute};
}

// bound: the deadline that a hanging worker misses. The sound workers beside it
// and after it have the same deadline: they need a hundredth of it, and time in
// which they wait for a processor extends it. Workers have no sanitizer
// (//tests:plain_programs), bulkheadd may have one.
inline constexpr std::chrono::milliseconds kShort =
    (kHasSanitizer ? 2 : 1) * std::chrono::milliseconds(2'000);

}  // namespace bulkhead::tests
