// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "ipc/error.h"
#include "ipc/unique_fd.h"

namespace bulkhead::ipc {

// Shared memory between the host and a worker. Exactly one of the two can write
// it.
//
// The host creates every region, as a memfd with a sealed size. It never maps a
// descriptor that a worker created: a peer that can truncate a mapped file can
// kill the host with SIGBUS.
//
//   auto requests = OwnedRegion::CreateWritable("requests", bytes);
//   auto replies = OwnedRegion::CreateReadable("replies", bytes);
//   SendMessage(socket, attach, {{requests->fd(), replies->fd()}}, deadline);
//   requests->CloseDescriptor();  // the mapping stays
//
// Trust: the worker can map a region from CreateWritable only read-only. The
// seal F_SEAL_FUTURE_WRITE makes the kernel refuse write() and new writable
// mappings, and does not affect the mapping that the host already has. The
// worker may write a region from CreateReadable at any time, also while the
// host reads it. So the host loads a value once, validates it, then uses it.
// The worker can zero pages of that region by punching holes, but cannot remove
// them.
//
// Failure: creating a region returns kResourceExhausted if the kernel refuses
// the memory. The kernel allocates all pages at once, not when they are
// touched, except pages of a sparse region, which Populate() allocates. The
// kernel may instead kill a process of its choice (out of memory), so callers
// bound the sizes they ask for.
//
// Threads: the objects are not thread-safe. Access to the memory is
// synchronized by its users.

// Owns a memory mapping and unmaps it.
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

// The host's side of a region.
class OwnedRegion {
 public:
  // Creates a region that the host writes and the worker reads. /proc shows
  // `name` for the memfd.
  static Expected<OwnedRegion> CreateWritable(const char* name, size_t bytes);
  // Creates a region that the worker writes and the host reads.
  static Expected<OwnedRegion> CreateReadable(const char* name, size_t bytes);

  // Creates a region that the worker writes, without allocating its memory yet.
  // Before the worker is asked to write a part of the region, Populate() that
  // part: a process that touches a page which the kernel cannot allocate is
  // killed.
  static Expected<OwnedRegion> CreateSparse(const char* name, size_t bytes);
  // Allocates the pages of a part of a sparse region. `offset` and `bytes` are
  // multiples of the page size, and the part lies in the region.
  Expected<void> Populate(size_t offset, size_t bytes) const;

  // Returns the descriptor, to send to the worker; -1 after CloseDescriptor().
  int fd() const { return fd_.get(); }
  // Closes the descriptor, which is not needed any more once it was sent.
  void CloseDescriptor() { fd_.reset(); }
  std::span<const std::byte> bytes() const { return mapping_.bytes(); }
  // Returns an empty span for a region from CreateReadable.
  std::span<std::byte> writable_bytes() const {
    return writable_ ? mapping_.bytes() : std::span<std::byte>();
  }
  // Maps a part of the region once more, copy-on-write: a write to the new
  // mapping does not reach the region, and a page that was written no longer
  // changes with the region. `offset` is a multiple of the page size, and the
  // part lies in the region. After CloseDescriptor(), this needs an earlier
  // KeepTemplate(), and returns kUnsupported without it.
  Expected<Mapping> MapPrivate(size_t offset, size_t bytes) const;
  // Keeps a further mapping, which is never touched, so that MapPrivate() can
  // copy from it once the descriptor is closed (mremap(2) with
  // MREMAP_DONTUNMAP, Linux 5.13). The mapping takes addresses, but no memory.
  Expected<void> KeepTemplate();

 private:
  OwnedRegion(UniqueFd fd, Mapping mapping, bool writable)
      : fd_(std::move(fd)), mapping_(std::move(mapping)), writable_(writable) {}
  enum class Pages { kAllocated, kSparse };
  static Expected<OwnedRegion> Create(const char* name, size_t bytes,
                                      bool writable, Pages pages);

  UniqueFd fd_;
  Mapping mapping_;
  Mapping template_;  // empty without KeepTemplate()
  bool writable_;
};

// The worker's side of a region, which the worker received from the host. Does
// not keep the descriptor.
class MappedRegion {
 public:
  // Maps the whole region. Returns kInvalidArgument if the region is smaller
  // than `expected_bytes_min`, or if its size is not sealed: the sender is then
  // not a host.
  static Expected<MappedRegion> Map(int fd, bool writable,
                                    size_t expected_bytes_min);

  std::span<const std::byte> bytes() const { return mapping_.bytes(); }
  // Returns an empty span for a region that was mapped read-only.
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
