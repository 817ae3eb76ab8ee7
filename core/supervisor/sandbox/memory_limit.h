// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/include/bulkhead/status.h"

namespace bulkhead::sandbox {

// Limits how much private memory a session's worker may have. The limit is
// RLIMIT_DATA; the zygote sets it in the worker before stage 2, so that nothing
// in the worker can raise it. Memory that the worker shares with the host, such
// as frames, does not count.
//
//     uint64_t most = DataBytesOf(zygote) + limits.worker_bytes;
//     ... clone the worker with this limit ...
//     RETURN_IF_ERROR(CheckDataLimit(worker, most));
//
// Both functions read /proc, so the answer comes from the kernel and not from
// the hostile process. Thread-safe.

// Returns the bytes of private memory that a process has mapped, whether it
// uses them or not; 0 if the process has ended.
uint64_t DataBytesOf(int pidfd);

// Checks that a process cannot get more than `bytes` of private memory. Fails
// with kSandboxUnavailable if the process can, and with kBackendLost if it has
// ended.
Status CheckDataLimit(int pidfd, uint64_t bytes);

}  // namespace bulkhead::sandbox
