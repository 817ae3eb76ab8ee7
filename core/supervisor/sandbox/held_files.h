// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/file_mappings.h"

namespace bulkhead::sandbox {

// A part of a file that this process has mapped, until it is destroyed.
class HeldPages {
 public:
  explicit HeldPages(std::span<std::byte> memory) : memory_(memory) {}
  ~HeldPages();
  HeldPages(const HeldPages&) = delete;
  HeldPages& operator=(const HeldPages&) = delete;

  std::span<std::byte> memory() const { return memory_; }

 private:
  const std::span<std::byte> memory_;
};

// Finds the parts of files that are held for any backend, since all map the
// same libraries. Owns none of them: whoever holds one keeps it. Not
// thread-safe.
class HeldParts {
 public:
  using FileId = std::pair<uint64_t, uint64_t>;  // device and inode

  HeldParts();
  // Tests say themselves which devices others serve.
  explicit HeldParts(std::function<bool(uint64_t)> is_remote)
      : is_remote_(std::move(is_remote)) {}

  // Returns null if nobody holds that very part.
  std::shared_ptr<const HeldPages> Find(FileId file, uint64_t begin,
                                        uint64_t end) const;
  void Add(FileId file, uint64_t begin, uint64_t end,
           const std::shared_ptr<const HeldPages>& pages);
  // The number of parts, of which some may be gone.
  size_t size() const { return parts_.size(); }
  // Returns whether another program or machine serves the file.
  bool IsRemote(FileId file) const { return is_remote_(file.first); }

 private:
  std::map<std::tuple<FileId, uint64_t, uint64_t>,
           std::weak_ptr<const HeldPages>>
      parts_;
  size_t most_ = 0;  // that are there before those are dropped that went
  const std::function<bool(uint64_t)> is_remote_;
};

// Holds in memory what the processes of a backend map of files. Whoever may
// read a file can see which of its pages are in memory, and can drop those that
// nobody maps. So a session that touches pages of a library, or of a file that
// its vendor ships, could spell out in them what it decodes. Pages that are
// held are there before, and stay.
//
//   HeldParts parts;  // one for all backends
//   HeldFiles held(parts);
//   RETURN_IF_ERROR(held.Add(zygote, *FileMappings(zygote), kMostBytes,
//                            HeldFiles::When::kFirst));
//   for (;;) {
//     ASSIGN_OR_RETURN(const bool done, held.Step());  // then let others run
//     if (done) break;
//   }
//
// This process maps the same pages. The zygote's own mappings are worth
// nothing: vendor code runs there and can undo them. A file is found by the
// path of the mapping, or by the process if it has no name any more, and is
// believed only after the kernel names the same file for both mappings. What
// nobody else can open is not held: memory without a name (memfd), and files
// in the root of the process's sandbox itself, such as the copy of its object.
//
// Two ways are left. The kernel drops pages if the machine has no memory, and
// whoever serves a file system (FUSE, NFS) sees what is read and can drop it.
//
// Takes address space and page tables of this process, and no memory for the
// pages, which the machine has once. Opening and reading the files blocks. Not
// thread-safe.
class HeldFiles {
 public:
  // `shared` must outlive this object.
  explicit HeldFiles(HeldParts& shared) : shared_(shared) {}

  // When the process has mapped the added files: before it was ready, or later,
  // when nobody has seen whether the file answers (files/remote_places.h). Then
  // a file that others serve is refused.
  enum class When { kFirst, kLater };
  // Adds what `process` maps and is not held yet. Fails with
  // kBackendUnavailable if that is more than `most_bytes`, or more than a
  // thousand parts, counted with those that are held. After a failure, of
  // Step() too, nothing more is held than before; there is no second try.
  Status Add(pid_t process, const std::vector<FileMapping>& mappings,
             uint64_t most_bytes, When when);
  // Maps the next part, or reads some MB of the last one. Returns true if
  // nothing is left to do. Fails with kBackendUnavailable, which names the
  // file, if it is not there any more, is no regular file, or cannot be read;
  // with kResourceExhausted if memory or descriptors are short.
  Result<bool> Step();
  // The bytes that were added so far.
  uint64_t bytes() const { return bytes_; }

 private:
  using FileId = HeldParts::FileId;
  // From offset to offset, disjoint and not touching.
  using Spans = std::map<uint64_t, uint64_t>;
  struct Part {
    FileId file;
    pid_t process;
    FileMapping mapping;  // one of those that have the part
    uint64_t begin;
    uint64_t end;
  };
  struct Mapped {
    Part part;
    std::shared_ptr<const HeldPages> pages;
  };

  Result<bool> Proceed();
  Status Map(Part part);
  // Compares the files that were mapped since the last call with those that
  // were meant.
  Status Verify();

  HeldParts& shared_;
  std::map<FileId, Spans> held_;
  std::vector<std::shared_ptr<const HeldPages>> pages_;
  uint64_t bytes_ = 0;
  size_t name_bytes_ = 0;        // of the paths of all
  std::vector<Part> parts_;      // to be mapped
  std::vector<Mapped> mapped_;   // and not verified yet
  std::span<std::byte> unread_;  // of the last one that was mapped
};

}  // namespace bulkhead::sandbox
