// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::worker::session {

// Runs the worker of a backend whose manifest says worker_scope = "backend":
// one process serves many sessions, because the vendor's device context is
// expensive to create. bulkheadd sends the socket of each session in a
// SharedWorkerRequest over `socket`; session sockets never pass through the
// zygote. A SessionWorker serves each session on a thread of its own.
//
// The caller has installed the stage 2 lock-down, so every thread starts locked
// down.
//
// If no thread can be started for a session, the `hello` message on the
// session's socket says so. The other sessions go on.
//
// When the host closes a session, only the thread of that session ends. Any
// other end of a session (a lost device, memory that cannot be mapped, a crash)
// ends the process with all its sessions. Their hosts then replay each session
// in a process of its own.
//
// Returns when bulkheadd has closed `socket` (0) or a message on it is invalid
// (another exit code). The caller then ends the process with the exit code.
int RunSharedWorker(const bulkhead_backend& backend, int socket);

}  // namespace bulkhead::worker::session
