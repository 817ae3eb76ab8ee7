// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/expected_calls.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// A system call that the filters of a backend forbid. The kernel reports the
// call, so the report is a fact and not a claim of the process.
struct Violation {
  pid_t process = 0;  // The pid in the backend's own pid namespace.
  int number = 0;
  uint32_t architecture = 0;  // An AUDIT_ARCH_* value.
  // The number of seccomp filters of the thread; nullopt before Linux 5.9.
  std::optional<uint32_t> filters;
};

// Receives the system calls of a backend that the kernel holds until bulkheadd
// has decided on them (Forbidden::kNotify). A call that ExpectedCalls allows is
// executed. Any other call is a violation: it is never answered, hence never
// executed, and its process is killed. If a process ends for another reason
// while its call is checked, the call does not count as a violation. After the
// listener is closed, the kernel lets all calls that would wait fail with
// ENOSYS. Never pass the listener on: its holder could allow calls.
//
// Used by bulkheadd's one thread. fd() becomes readable when a call waits. The
// backend is hostile: it can make as many violations as it has processes.
class SeccompListener {
 public:
  // Takes ownership of `fd`, which the zygote sent. Fails with
  // kBackendMisbehaved if `fd` is not a listener, and with kSandboxUnavailable
  // if the kernel's notifications are larger than this program was built for.
  static Result<SeccompListener> Adopt(ipc::UniqueFd fd);

  // The descriptor to poll; this object keeps owning it.
  int fd() const { return fd_.get(); }
  // Answers waiting calls as `expected` decides, until one is a violation.
  // Kills the process of that call and returns the violation. Returns nullopt
  // if no call is left. Never blocks.
  std::optional<Violation> StopNext(ExpectedCalls& expected);
  // Call it when `expected` got the descriptors of the worker `process`. If the
  // worker waits in the call that installs its last filter, gives the worker
  // its socket (as kWorkerSocketFd), stdin, stdout and stderr, and lets the
  // call go on. Does nothing if the worker does not wait there yet.
  void HandOver(ExpectedCalls& expected, pid_t process);

 private:
  explicit SeccompListener(ipc::UniqueFd fd) : fd_(std::move(fd)) {}

  ipc::UniqueFd fd_;
};

}  // namespace bulkhead::sandbox
