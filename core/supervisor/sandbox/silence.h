// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// Makes the stdin and stdout of one session's worker: the end of a pipe whose
// other end is closed. Reading finds the end of the file, and writing fails
// with EBADF. No other process has it. The host's /dev/null would show each
// write to everybody who watches it, and a file of several workers would have
// times and an offset that one of them sets and another reads.
//
// Fails with kResourceExhausted if this process has no descriptors left.
Result<ipc::UniqueFd> MakeSilence();

}  // namespace bulkhead::sandbox
