// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor_link {

// A running bulkheadd, as the application sees it. The application is not its
// parent and need not reap it, unless the kernel makes it the parent of
// bulkheadd: an application that is pid 1, or a child subreaper, inherits every
// process below it whose parent ends.
struct SupervisorProcess {
  pid_t pid = 0;
  ipc::UniqueFd control;  // a SOCK_SEQPACKET that speaks control.capnp
  // A pipe that nobody writes. When it is closed, as at the end of the
  // application, the kernel continues a bulkheadd that somebody has stopped.
  ipc::UniqueFd lifeline;
  ipc::UniqueFd pidfd;
};

// Reaps a bulkheadd that has ended, if it became a child of the application.
// Otherwise does nothing. Waits for its end for at most `patience`, and for no
// other child.
void ReapIfChild(const SupervisorProcess& process,
                 std::chrono::milliseconds patience);

// Starts `program`, a descriptor of the file that had the name `path` (if it is
// -1, the file at `path`), as `bulkheadd --host PID`, with the control socket
// as descriptor 3, the end of the lifeline as descriptor 4, stdin and stdout on
// /dev/null and the application's stderr.
//
// Safe in a process with any number of threads and gigabytes of memory: two
// nested vfork-like clones without an exit signal, so that no address space is
// copied, no pthread_atfork handler runs, and neither SIGCHLD nor waitpid(-1)
// of the application notices. Between clone and exec only async-signal-safe
// calls are made. The daemon leaves the application's session, so that ^C does
// not reach it.
Result<SupervisorProcess> StartSupervisor(const std::string& path, int program);

}  // namespace bulkhead::supervisor_link
