// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

namespace bulkhead::worker {

// Somebody who has the bytes of a media file.
class ByteServer {
 public:
  // Fills `out`, or less of it, with what begins at `offset`. 0 at the end;
  // negative: an errno.
  virtual ssize_t ReadAt(int64_t offset, std::span<uint8_t> out) = 0;

 protected:
  ~ByteServer() = default;
};

// Where the bytes of a media file are: in a descriptor, or with a server. Both
// are borrowed. A value. One thread.
class MediaBytes {
 public:
  MediaBytes(int fd) : fd_(fd) {}  // NOLINT: implicit
  explicit MediaBytes(ByteServer& server) : server_(&server) {}

  // As ByteServer's. Leaves the descriptor's offset alone: it came over a
  // socket, and its open file is still that of others.
  ssize_t ReadAt(int64_t offset, std::span<uint8_t> out) const;

 private:
  int fd_ = -1;
  ByteServer* server_ = nullptr;
};

}  // namespace bulkhead::worker
