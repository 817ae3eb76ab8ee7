// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/log_socket.h"

#include <sys/socket.h>

#include <array>

#include "core/supervisor/sandbox/errno_status.h"

namespace bulkhead::sandbox {

Result<LogSocket> MakeLogSocket() {
  // O_NONBLOCK on both ends: a full log must not block the processes that write
  // to it.
  std::array<int, 2> ends;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                 ends.data()) != 0) {
    return ErrnoStatus(Code::kResourceExhausted, "cannot make a socket pair");
  }
  LogSocket log{.reader = ipc::UniqueFd(ends[0]),
                .writer = ipc::UniqueFd(ends[1])};
  if (shutdown(ends[0], SHUT_WR) != 0) {
    return ErrnoStatus(Code::kResourceExhausted, "cannot make a log");
  }
  return log;
}

}  // namespace bulkhead::sandbox
