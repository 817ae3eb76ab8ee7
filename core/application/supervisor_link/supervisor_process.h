// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::session {

// A running bulkheadd, as the application sees it. The application is not its
// parent and need not reap it.
struct SupervisorProcess {
  pid_t pid = 0;
  ipc::UniqueFd control;  // a SOCK_SEQPACKET that speaks control.capnp
};

// Starts `path` as `bulkheadd --host PID`, with the control socket as
// descriptor 3, stdin and stdout on /dev/null and the application's stderr.
//
// Safe in a process with any number of threads and gigabytes of memory: two
// nested vfork-like clones without an exit signal, so that no address space is
// copied, no pthread_atfork handler runs, and neither SIGCHLD nor waitpid(-1)
// of the application notices. Between clone and exec only async-signal-safe
// calls are made. The daemon leaves the application's session, so that ^C does
// not reach it.
Result<SupervisorProcess> StartSupervisor(const std::string& path);

}  // namespace bulkhead::session
