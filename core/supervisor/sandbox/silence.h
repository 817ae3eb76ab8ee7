// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// Returns the stdin and stdout for one session's worker: the reading end of a
// pipe whose other end is closed. Reading it returns the end of file, and
// writing fails with EBADF. It is not shared, since a shared file would be a
// covert channel: everybody can watch writes to the host's /dev/null, and a
// file of several workers has times and an offset that they can set and read.
//
// Fails with kResourceExhausted if this process has no descriptors left.
Result<ipc::UniqueFd> MakeSilence();

}  // namespace bulkhead::sandbox
