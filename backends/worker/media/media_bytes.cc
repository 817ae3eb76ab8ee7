// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/media_bytes.h"

#include <unistd.h>

#include <cerrno>

namespace bulkhead::worker {

ssize_t MediaBytes::ReadAt(int64_t offset, std::span<uint8_t> out) const {
  if (server_ != nullptr) return server_->ReadAt(offset, out);
  ssize_t got;
  do {
    got = pread(fd_, out.data(), out.size(), offset);
  } while (got < 0 && errno == EINTR);
  return got < 0 ? -errno : got;
}

}  // namespace bulkhead::worker
