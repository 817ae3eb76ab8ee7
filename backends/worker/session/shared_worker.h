// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::worker {

// The worker of a backend whose manifest says worker_scope = "backend": one
// process for many sessions, because the context that the vendor makes in it is
// dear. Each session comes as a socket in a SharedWorkerRequest over `socket`,
// never through the zygote, and is served by a SessionWorker on a thread of its
// own.
//
// The lock-down of stage 2 is installed before this is called, so each thread
// is born under it.
//
// A session whose host closed its socket ends its thread. Whatever else ends a
// session (a lost device, memory that cannot be mapped) ends the process, and
// with it all of them: their hosts see it dead and replay each alone. So does a
// crash. Returns the exit code once bulkheadd has closed `socket`.
int RunSharedWorker(const bulkhead_backend& backend, int socket);

}  // namespace bulkhead::worker
