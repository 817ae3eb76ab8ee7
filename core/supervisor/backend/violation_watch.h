// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>
#include <kj/timer.h>
#include <sys/types.h>

#include <map>
#include <optional>

#include "core/supervisor/sandbox/violation_listener.h"

namespace bulkhead::supervisor {

// Ends whoever of one backend makes a forbidden system call, and remembers what
// it was until the reaper has reported that end.
//
// Bound to the event loop's thread; the promise of Serve must be gone before
// the object is.
class ViolationWatch {
 public:
  ViolationWatch(kj::UnixEventPort& port, sandbox::ViolationListener listener);
  KJ_DISALLOW_COPY(ViolationWatch);

  // Resolves never.
  kj::Promise<void> Serve();
  // For which the process was killed, if for one. By the pid in the reaper's
  // namespace, which means no other process before that end is reported.
  std::optional<sandbox::Violation> Take(pid_t pid);

 private:
  kj::Timer& timer_;
  sandbox::ViolationListener listener_;
  kj::UnixEventPort::FdObserver observer_;
  std::map<pid_t, sandbox::Violation> violations_;
};

}  // namespace bulkhead::supervisor
