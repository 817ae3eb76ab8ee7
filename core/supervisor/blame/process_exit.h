// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/violation_listener.h"

namespace bulkhead::supervisor {

// How a process of a backend ended, as its reaper reported it and, where it was
// for a violation that could be named, as bulkheadd has seen itself. A value.
struct WorkerEnd {
  enum class Kind {
    kRunning,
    kUnknown,
    kExited,
    kSignaled,
    kViolation,
    kOutOfMemory,
  };
  Kind kind = Kind::kRunning;
  int value = 0;
  std::optional<sandbox::Violation> violation;
  int stage = 0;  // whose filter it violated; 0: not known
  // Whether its zygote outlived it: only then is the worker to blame.
  bool zygote_alive = false;
  // It served several sessions, and whose input ended it is not known.
  bool shared = false;
  // Another of its sessions has been told of it.
  bool told = false;
};

// `violation`: for which it was killed, if for one.
WorkerEnd EndOf(int wait_status, std::optional<sandbox::Violation> violation);

// A SIGKILL, which no process of a backend can get from itself: somebody else's
// unless we know that it is ours.
bool IsForeignKill(const WorkerEnd& end);

// Without what only its session knows.
ExitReport ToReport(const WorkerEnd& end);

}  // namespace bulkhead::supervisor
