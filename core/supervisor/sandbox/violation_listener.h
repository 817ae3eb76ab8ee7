// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// A system call that the filters of a backend forbid, as it stood before the
// kernel. Knowledge, not a claim: the process has no say in it.
struct Violation {
  pid_t process = 0;  // as the backend's own pid namespace names it
  int number = 0;
  uint32_t architecture = 0;  // AUDIT_ARCH_*
  // Seccomp filters of the thread; none where the kernel does not count.
  std::optional<uint32_t> filters;
};

// Hears of each forbidden call in a backend (Forbidden::kNotify), and ends the
// process that made it: the thread in question waits in the kernel for an
// answer that is never given. The call is not executed, whoever wins what race:
// nothing here ever answers, and when the holder of the listener is gone the
// kernel refuses with ENOSYS. It must not be passed on, for whoever holds it
// could let calls pass.
//
// For bulkheadd's one thread. The fd becomes readable when there is something
// to stop. The backend is hostile; it can make as many violations as it has
// processes.
class ViolationListener {
 public:
  // kBackendMisbehaved where `fd` is no listener.
  static Result<ViolationListener> Adopt(ipc::UniqueFd fd);

  // Borrowed.
  int fd() const { return fd_.get(); }
  // Ends the process with the next forbidden call; nullopt where there is none
  // now. Never waits.
  std::optional<Violation> StopNext();

 private:
  explicit ViolationListener(ipc::UniqueFd fd) : fd_(std::move(fd)) {}

  ipc::UniqueFd fd_;
};

}  // namespace bulkhead::sandbox
