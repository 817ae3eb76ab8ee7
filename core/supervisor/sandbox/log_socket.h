// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// The stderr of a backend's processes: they have `writer` as stderr, and
// bulkheadd reads from `reader`. Neither end blocks. It is a socket pair and
// not a pipe: a process that has the writing end of a pipe can open it for
// reading through /proc/self/fd, even under Landlock, and so read the log of
// other processes.
struct LogSocket {
  ipc::UniqueFd reader;
  ipc::UniqueFd writer;
};

// Fails with kResourceExhausted if this process has no descriptors left.
Result<LogSocket> MakeLogSocket();

}  // namespace bulkhead::sandbox
