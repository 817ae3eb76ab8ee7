// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

namespace bulkhead::worker::demux {

// Provides the bytes of a media file for which there is no descriptor.
class ByteServer {
 public:
  // Reads bytes from `offset` on into `out`, possibly fewer than fit. Returns
  // the number of bytes, 0 at the end of the file, or a negated errno.
  virtual ssize_t ReadAt(int64_t offset, std::span<uint8_t> out) = 0;

 protected:
  ~ByteServer() = default;
};

// A readable media file: a borrowed descriptor or a borrowed ByteServer. A
// value type. Used by one thread.
class MediaBytes {
 public:
  MediaBytes(int fd) : fd_(fd) {}  // NOLINT: implicit
  explicit MediaBytes(ByteServer& server) : server_(&server) {}

  // Fills `out` with the bytes from `offset` on. Returns the number of bytes
  // that were read: fewer than fit at the end of the file or before an error.
  // If an error comes before the first byte, returns a negated errno. Does not
  // move the descriptor's offset, which is shared with the process that has
  // passed the descriptor.
  ssize_t ReadAt(int64_t offset, std::span<uint8_t> out) const;

 private:
  int fd_ = -1;
  ByteServer* server_ = nullptr;
};

}  // namespace bulkhead::worker::demux
