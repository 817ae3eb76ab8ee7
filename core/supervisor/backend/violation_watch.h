// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>
#include <kj/timer.h>
#include <sys/types.h>

#include <map>
#include <optional>

#include "core/supervisor/sandbox/expected_calls.h"
#include "core/supervisor/sandbox/seccomp_listener.h"
#include "ipc/unique_fd.h"

namespace bulkhead::backend {

// Decides on the system calls of one backend that the kernel holds until
// bulkheadd answers (seccomp notifications). Kills each process that makes a
// forbidden call. Keeps the call until Take() is called, after the reaper has
// reported the end. Owned by ZygoteLink.
//
// Bound to the event loop's thread. The promise of Serve() must be destroyed
// before this object.
class ViolationWatch {
 public:
  // `expected` is borrowed.
  ViolationWatch(kj::UnixEventPort& port, sandbox::SeccompListener listener,
                 sandbox::ExpectedCalls& expected);
  KJ_DISALLOW_COPY(ViolationWatch);

  // Serves the listener for as long as the promise is kept; never resolves.
  kj::Promise<void> Serve();
  // Gives a worker its socket and its stdin, stdout and stderr, at once or as
  // soon as the worker waits for them.
  void Give(pid_t pid, sandbox::ExpectedCalls::WorkerDescriptors descriptors);
  // Returns the system call for which process `pid` was killed, if any, and
  // forgets the call. `pid` is from the reaper's namespace. The kernel does not
  // reuse a pid before the reaper has reported the end of its process.
  std::optional<sandbox::Violation> Take(pid_t pid);

 private:
  kj::Timer& timer_;
  sandbox::SeccompListener listener_;
  sandbox::ExpectedCalls& expected_;
  kj::UnixEventPort::FdObserver observer_;
  std::map<pid_t, sandbox::Violation> violations_;
};

}  // namespace bulkhead::backend
