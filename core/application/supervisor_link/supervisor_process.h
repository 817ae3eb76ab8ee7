// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor_link {

// A running bulkheadd, as the application sees it. Because of a double fork,
// the application is not the parent of bulkheadd and does not reap it. The
// exception is an application that is pid 1 or a child subreaper: the kernel
// makes it the parent of every orphan below it, and so of bulkheadd.
struct SupervisorProcess {
  pid_t pid = 0;
  ipc::UniqueFd control;  // a SOCK_SEQPACKET that speaks control.capnp
  // The application's end of a pipe that carries no data. The end is closed at
  // the latest when the application ends. On the close, the kernel sends
  // SIGCONT to bulkheadd, so that a stopped bulkheadd can end too.
  ipc::UniqueFd lifeline;
  ipc::UniqueFd pidfd;
};

// Waits at most `patience` for the end of a bulkheadd that became a child of
// the application, and reaps it. Does nothing if bulkheadd is not a child of
// the application. Never reaps another child.
void ReapIfChild(const SupervisorProcess& process,
                 std::chrono::milliseconds patience);

// Starts bulkheadd as `bulkheadd --host PID`. `program` is a descriptor of the
// program, and `path` its name; if `program` is -1, the file at `path` is
// started. bulkheadd has the control socket as descriptor 3, its end of the
// lifeline as descriptor 4, stdin and stdout on /dev/null, and the
// application's stderr.
//
// The start is safe in a process with any number of threads and gigabytes of
// memory. It is a double fork by two nested vfork-like clones without an exit
// signal: no address space is copied, no pthread_atfork handler runs, and the
// application gets no SIGCHLD and sees no child in waitpid(-1). Between clone
// and exec only async-signal-safe calls are made. bulkheadd leaves the session
// of the terminal, so that ^C does not reach it. An error names the program and
// says what to do about it.
Result<SupervisorProcess> StartSupervisor(const std::string& path, int program);

}  // namespace bulkhead::supervisor_link
