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

// Receives the calls of a backend on which its filters wait for bulkheadd
// (Forbidden::kNotify). A call that ExpectedCalls approves is executed. The
// process that made any other call is killed: its thread waits in the kernel
// for an answer that is never given, so the call is not executed, whoever wins
// a race. A call that its process did not live to see decided is no violation.
// Once the listener is closed, the kernel refuses each such call with ENOSYS.
// Never pass the listener on: its holder could let calls pass.
//
// Used by bulkheadd's one thread. fd() becomes readable when there is a call to
// decide on. The backend is hostile: it can make as many violations as it has
// processes.
class SeccompListener {
 public:
  // Takes ownership of `fd`, which the zygote sent. Fails with
  // kBackendMisbehaved if `fd` is not a listener, and with kSandboxUnavailable
  // if the kernel's notifications are larger than this program was built for.
  static Result<SeccompListener> Adopt(ipc::UniqueFd fd);

  // The descriptor to poll; this object keeps owning it.
  int fd() const { return fd_.get(); }
  // Lets the calls that `expected` approves go on, up to the first other call.
  // Kills the process of that call and returns the call, or nullopt if there is
  // none now. Never blocks.
  std::optional<Violation> StopNext(ExpectedCalls& expected);
  // Gives a worker its socket, at kWorkerSocketFd, and its stderr, and lets its
  // call go on, if it waits for that and the descriptors are there.
  void HandOver(ExpectedCalls& expected, pid_t process);

 private:
  explicit SeccompListener(ipc::UniqueFd fd) : fd_(std::move(fd)) {}

  ipc::UniqueFd fd_;
};

}  // namespace bulkhead::sandbox
