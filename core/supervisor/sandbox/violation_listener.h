// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "core/include/bulkhead/status.h"
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

// Receives each forbidden call of a backend (Forbidden::kNotify) and kills the
// process that made it. The calling thread waits in the kernel for an answer
// that is never given. So the call is not executed, whoever wins which race: no
// code here answers, and once the listener is closed the kernel refuses the
// call with ENOSYS. Never pass the listener on: its holder could let calls
// pass.
//
// Used by bulkheadd's one thread. fd() becomes readable when there is a call to
// stop. The backend is hostile: it can make as many violations as it has
// processes.
class ViolationListener {
 public:
  // Takes ownership of `fd`, which the zygote sent. Fails with
  // kBackendMisbehaved if `fd` is not a listener, and with kSandboxUnavailable
  // if the kernel's notifications are larger than this program was built for.
  static Result<ViolationListener> Adopt(ipc::UniqueFd fd);

  // The descriptor to poll; this object keeps owning it.
  int fd() const { return fd_.get(); }
  // Kills the process with the next forbidden call and returns that call, or
  // nullopt if there is none now. Never blocks.
  std::optional<Violation> StopNext();

 private:
  explicit ViolationListener(ipc::UniqueFd fd) : fd_(std::move(fd)) {}

  ipc::UniqueFd fd_;
};

}  // namespace bulkhead::sandbox
