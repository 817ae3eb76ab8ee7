// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/seccomp_listener.h"

namespace bulkhead::blame {

// Describes how a process of a backend ended, as trusted parties saw it: the
// reaper reports the wait status, and bulkheadd knows the forbidden system call
// if the kernel reported it. A plain value; fields that begin with `says_` are
// claims of the worker.
struct ProcessExit {
  enum class Kind {
    kRunning,      // has not ended
    kUnknown,      // ended, but nobody knows how
    kExited,       // called exit()
    kSignaled,     // died of a signal
    kViolation,    // was killed for a forbidden system call
    kOutOfMemory,  // was killed since its cgroup had no memory left
  };
  Kind kind = Kind::kRunning;
  // The exit status or the signal, depending on `kind`.
  int value = 0;
  std::optional<sandbox::Violation> violation;
  // The lock-down stage whose filter was violated: 1, 2, or 0 if unknown.
  int stage = 0;
  // True if the worker's zygote outlived the worker. A worker that ended
  // together with its zygote is not to blame.
  bool zygote_alive = false;
  // True if the backend was granted device nodes, so that it can lose a device.
  bool has_devices = false;
  // True if the worker said before it ended that its device is lost. Set by
  // ExitJudge, as says_backend_failed below.
  bool says_device_lost = false;
  // True if processes without media found that device lost as well.
  bool device_found_lost = false;
  // True if other sessions lost the device at the same time.
  bool device_lost_by_others = false;
  // True if the worker said before it ended that its backend failed.
  bool says_backend_failed = false;
  // True if bulkheadd ended the worker because it had more than its share of
  // the backend's tasks (processes and threads), and others lacked tasks.
  bool took_all_tasks = false;
  // True if the backend's tasks were used up when this end was judged.
  bool lacked_tasks = false;
  // True if the worker served several sessions, so that nobody knows which
  // input ended the worker.
  bool shared = false;
  // True if another session of this worker has already learned of this exit.
  bool told = false;
};

// Converts a wait status. `violation` is the forbidden system call for which
// the process was killed, if any.
ProcessExit ToProcessExit(int wait_status,
                          std::optional<sandbox::Violation> violation);

// Returns whether the process was ended by a SIGKILL. A process of a backend
// cannot send SIGKILL to itself. So unless bulkheadd sent the signal, a process
// outside of Bulkhead did.
bool IsForeignKill(const ProcessExit& exit);

// Converts to the public report. The caller adds what only the session knows,
// such as the position in the input.
ExitReport ToReport(const ProcessExit& exit);

}  // namespace bulkhead::blame
