// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// Returns the stdin and stdout for one session's worker: the reading end of a
// pipe whose other end is closed. Reading it returns the end of file, and
// writing fails with EBADF. Each worker gets a pipe of its own, since a shared
// file would be a covert channel. Everybody can watch writes to the host's
// /dev/null (inotify). Workers that share any other file can set and read its
// timestamps and its offset.
//
// Fails with kResourceExhausted if this process has no descriptors left.
Result<ipc::UniqueFd> MakeSilence();

}  // namespace bulkhead::sandbox
