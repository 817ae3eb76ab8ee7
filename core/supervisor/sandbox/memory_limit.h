// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/include/bulkhead/status.h"

namespace bulkhead::sandbox {

// How much private memory a session's worker may have: RLIMIT_DATA, which its
// zygote sets in it before stage 2, so that nothing in it raises it any more.
// Memory that it shares with the host, such as frames, does not count.
//
//     uint64_t most = DataBytesOf(zygote) + limits.worker_bytes;
//     ... cloned with that ...
//     RETURN_IF_ERROR(CheckDataLimit(worker, most));
//
// All from /proc: the kernel says it, not the process. Thread-safe.

// Private memory that a process has mapped, used or not; 0 where it has ended.
uint64_t DataBytesOf(int pidfd);

// kSandboxUnavailable if the process might get more, kBackendLost if it has
// ended.
Status CheckDataLimit(int pidfd, uint64_t bytes);

}  // namespace bulkhead::sandbox
