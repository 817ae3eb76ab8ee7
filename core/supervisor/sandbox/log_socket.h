// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// The stderr of a backend's processes: they have `writer`, bulkheadd reads from
// `reader`. Neither end blocks. Made of sockets, since other processes of the
// backend could open and read a pipe through /proc/self/fd, even under
// Landlock.
struct LogSocket {
  ipc::UniqueFd reader;
  ipc::UniqueFd writer;
};

// Fails with kResourceExhausted if this process has no descriptors left.
Result<LogSocket> MakeLogSocket();

}  // namespace bulkhead::sandbox
