// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "bulkhead/exit_report.h"

namespace bulkhead {

// One recovery of a video or audio stream: a worker died, or was killed for
// what it did, and the call that was under way goes on with another worker. The
// caller of that call gets the same result, later.
struct Recovery {
  std::string path;    // The path of the file, as the caller gave it.
  std::string device;  // "openreg:1"
  ExitReport cause;    // How the last of the workers ended, and where.
  uint32_t attempts;   // The number of workers that ended during the call.
  // The time from the first end that was noticed until the caller has the
  // result.
  std::chrono::microseconds took;
};

// Called with each recovery, on the thread that is inside a call of the
// decoder and before that call returns; never on another thread. The observer
// must not use the decoder and must not throw.
using RecoveryObserver = std::function<void(const Recovery&)>;

// The recoveries of one decoder.
struct RecoveryStats {
  uint32_t restarts = 0;   // The number of workers that were lost.
  std::string last_cause;  // The last cause, in words; empty if none.
  // The time that the latest worker took from the request to the report that it
  // is locked down.
  std::chrono::microseconds worker_start{0};
};

}  // namespace bulkhead
