// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// The stderr of a backend's processes: text goes from `writer` to `reader`.
// Neither end blocks. Sockets, since a pipe could be opened again through
// /proc/self/fd, also under Landlock, and be read by other processes of the
// backend.
struct LogSocket {
  ipc::UniqueFd reader;
  ipc::UniqueFd writer;
};

// Fails with kResourceExhausted if this process has no descriptors left.
Result<LogSocket> MakeLogSocket();

}  // namespace bulkhead::sandbox
