// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

namespace bulkhead::worker {

// A source of the bytes of a media file that has no descriptor.
class ByteServer {
 public:
  // Reads bytes from `offset` on into `out`, possibly fewer than fit. Returns
  // the number of bytes, 0 at the end of the file, or a negated errno.
  virtual ssize_t ReadAt(int64_t offset, std::span<uint8_t> out) = 0;

 protected:
  ~ByteServer() = default;
};

// The place of a media file's bytes: a descriptor or a server, both borrowed. A
// value type. Used by one thread.
class MediaBytes {
 public:
  MediaBytes(int fd) : fd_(fd) {}  // NOLINT: implicit
  explicit MediaBytes(ByteServer& server) : server_(&server) {}

  // Reads as many bytes from `offset` on as `out` holds, fewer at the end of
  // the file. Returns their number, or a negated errno. Does not move the
  // descriptor's offset: the descriptor came over a socket and shares its
  // offset with other processes.
  ssize_t ReadAt(int64_t offset, std::span<uint8_t> out) const;

 private:
  int fd_ = -1;
  ByteServer* server_ = nullptr;
};

}  // namespace bulkhead::worker
