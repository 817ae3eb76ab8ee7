// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/silence.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "core/supervisor/sandbox/errno_status.h"

namespace bulkhead::sandbox {

Result<ipc::UniqueFd> MakeSilence() {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return ErrnoStatus(Code::kResourceExhausted, "cannot make a pipe");
  }
  close(ends[1]);
  return ipc::UniqueFd(ends[0]);
}

}  // namespace bulkhead::sandbox
