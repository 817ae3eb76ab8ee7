// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/media_bytes.h"

#include <unistd.h>

#include <cerrno>

namespace bulkhead::worker::demux {

ssize_t MediaBytes::ReadAt(int64_t offset, std::span<uint8_t> out) const {
  size_t got = 0;
  while (got < out.size()) {
    const auto rest = out.subspan(got);
    const int64_t from = offset + static_cast<int64_t>(got);
    ssize_t more = server_ != nullptr
                       ? server_->ReadAt(from, rest)
                       : pread(fd_, rest.data(), rest.size(), from);
    if (server_ == nullptr && more < 0) {
      if (errno == EINTR) continue;
      more = -errno;
    }
    // After an error, returns the bytes read so far. The next call then fails.
    if (more < 0 && got == 0) return more;
    if (more <= 0) break;
    got += static_cast<size_t>(more);
  }
  return static_cast<ssize_t>(got);
}

}  // namespace bulkhead::worker::demux
