// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "ipc/error.h"
#include "ipc/unique_fd.h"

namespace bulkhead::ipc {

// Memory between the host and a worker that exactly one of them can write.
//
// The host makes all of it, as memfds whose size is sealed: a file that its
// peer can shorten is a SIGBUS away from killing the host. It never maps a
// descriptor that a worker made.
//
//   auto requests = OwnedRegion::CreateWritable("requests", bytes);
//   auto replies = OwnedRegion::CreateReadable("replies", bytes);
//   SendMessage(socket, attach, {{requests->fd(), replies->fd()}}, deadline);
//
// Trust: of a region from CreateWritable the worker can only ever make
// read-only mappings; the kernel refuses everything else (F_SEAL_FUTURE_WRITE,
// which spares the mapping that the host already has). A region from
// CreateReadable the worker may write at any time, also while the host reads:
// what is in it is fetched once, then validated, then used. The worker can turn
// its pages to zeros (hole punching) but never take them away.
//
// Failure: kResourceExhausted when the kernel refuses the memory, which is
// taken at once and not when pages are touched. It may instead kill a process
// of its choice, so callers bound what they ask for.
//
// Threads: the objects are not thread-safe, the memory is what its users make
// it.

// A mapping that is undone with it.
class Mapping {
 public:
  Mapping() = default;
  explicit Mapping(std::span<std::byte> bytes) : bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping();

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

// The host's side.
class OwnedRegion {
 public:
  // The host writes, the worker reads. `name` is what /proc shows.
  static Expected<OwnedRegion> CreateWritable(const char* name, size_t bytes);
  // The worker writes, the host reads.
  static Expected<OwnedRegion> CreateReadable(const char* name, size_t bytes);

  // To send to the worker.
  int fd() const { return fd_.get(); }
  std::span<const std::byte> bytes() const { return mapping_.bytes(); }
  // Empty for a region from CreateReadable.
  std::span<std::byte> writable_bytes() const {
    return writable_ ? mapping_.bytes() : std::span<std::byte>();
  }

 private:
  OwnedRegion(UniqueFd fd, Mapping mapping, bool writable)
      : fd_(std::move(fd)), mapping_(std::move(mapping)), writable_(writable) {}
  static Expected<OwnedRegion> Create(const char* name, size_t bytes,
                                      bool writable);

  UniqueFd fd_;
  Mapping mapping_;
  bool writable_;
};

// The worker's side of a region that it received. Refuses what has no sealed
// size: then the sender is not the host. Does not keep the descriptor.
class MappedRegion {
 public:
  // Maps all of it, at least `expected_bytes_min`.
  static Expected<MappedRegion> Map(int fd, bool writable,
                                    size_t expected_bytes_min);

  std::span<const std::byte> bytes() const { return mapping_.bytes(); }
  // Empty unless mapped writable.
  std::span<std::byte> writable_bytes() const {
    return writable_ ? mapping_.bytes() : std::span<std::byte>();
  }

 private:
  MappedRegion(Mapping mapping, bool writable)
      : mapping_(std::move(mapping)), writable_(writable) {}

  Mapping mapping_;
  bool writable_;
};

}  // namespace bulkhead::ipc
