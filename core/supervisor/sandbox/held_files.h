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

// A part of a file that this process maps. The destructor unmaps it.
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

// A table of the parts of files that are held for any backend, so that backends
// share them: all map the same libraries. Does not own the parts; each lives as
// long as some HeldFiles has it. Not thread-safe.
class HeldParts {
 public:
  using FileId = std::pair<uint64_t, uint64_t>;  // device and inode

  HeldParts();
  // For tests, which say themselves which devices are remote.
  explicit HeldParts(std::function<bool(uint64_t)> is_remote)
      : is_remote_(std::move(is_remote)) {}

  // Returns the pages of exactly that part, or null if no HeldFiles has it.
  std::shared_ptr<const HeldPages> Find(FileId file, uint64_t begin,
                                        uint64_t end) const;
  // Makes a part known for Find(), from `begin` to `end` in bytes of the file.
  void Add(FileId file, uint64_t begin, uint64_t end,
           const std::shared_ptr<const HeldPages>& pages);
  // The number of entries; some of their parts may be gone.
  size_t size() const { return parts_.size(); }
  // Returns whether another program or machine serves the file (FUSE, NFS).
  bool IsRemote(FileId file) const { return is_remote_(file.first); }

 private:
  std::map<std::tuple<FileId, uint64_t, uint64_t>,
           std::weak_ptr<const HeldPages>>
      parts_;
  size_t most_ = 0;  // the size at which entries of gone parts are removed
  const std::function<bool(uint64_t)> is_remote_;
};

// Holds in memory those parts of files that the processes of a backend map.
// This closes a covert channel: every process that may read a file can see
// which of its pages are in memory (mincore), and can drop pages that no
// process maps. So a session could transmit what it decodes by touching chosen
// pages of a library, or of a file that its vendor ships. Held pages are in
// memory before the session starts, and stay.
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
// To hold pages, bulkheadd maps them too; mappings in the zygote could be
// undone by vendor code. A file is opened by the path of the backend's mapping,
// or through /proc if it was removed. Then /proc/self/maps must show the same
// file for bulkheadd's mapping. Files that no other process can open are not
// held: memory without a name (memfd), and files in the backend's own root,
// such as the private copy of its plugin.
//
// Two channels remain: the kernel drops pages when memory runs out, and the
// server of a file system (FUSE, NFS) sees which pages are read.
//
// Takes address space and page tables of bulkheadd, but no further memory,
// since processes share the pages. Opening and reading the files blocks. Not
// thread-safe.
class HeldFiles {
 public:
  // `shared` must outlive this object.
  explicit HeldFiles(HeldParts& shared) : shared_(shared) {}

  // The time at which the process mapped the files:
  // - kFirst: before the backend was ready. files/remote_places.h has read
  //   these files already, so their file system answers.
  // - kLater: after that. Add() refuses a remote file, which may not answer.
  enum class When { kFirst, kLater };
  // Adds the parts of `mappings` of `process` that are not held yet; Step()
  // then holds them. Fails with kBackendUnavailable if they have more than
  // `most_bytes`, or if more than a thousand parts would be held. After a
  // failure of Add() or Step(), the added parts are dropped and never held.
  Status Add(pid_t process, const std::vector<FileMapping>& mappings,
             uint64_t most_bytes, When when);
  // Maps the next added part, or reads some MB of the last one. Returns true if
  // nothing is left to do. Fails with kBackendUnavailable, naming the file, if
  // the file was removed, is not regular or cannot be read. Fails with
  // kResourceExhausted if memory or descriptors are short.
  Result<bool> Step();
  // The number of bytes that were added so far.
  uint64_t bytes() const { return bytes_; }

 private:
  using FileId = HeldParts::FileId;
  // Spans of a file: begin -> end. They neither overlap nor touch.
  using Spans = std::map<uint64_t, uint64_t>;
  // A part of a file that is to be held, from `begin` to `end`.
  struct Part {
    FileId file;
    pid_t process;
    FileMapping mapping;  // a mapping of `file` in `process`
    uint64_t begin;
    uint64_t end;
  };
  struct Mapped {
    Part part;
    std::shared_ptr<const HeldPages> pages;
  };

  // Does what Step() does, without the cleanup after a failure.
  Result<bool> Proceed();
  Status Map(Part part);
  // Checks that the parts in `mapped_` are of the files that the backend maps,
  // and holds them. Reads /proc/self/maps only once for all of them.
  Status Verify();

  HeldParts& shared_;
  std::map<FileId, Spans> held_;
  std::vector<std::shared_ptr<const HeldPages>> pages_;
  uint64_t bytes_ = 0;
  size_t name_bytes_ = 0;        // the length of the paths of all parts
  std::vector<Part> parts_;      // added and not mapped yet
  std::vector<Mapped> mapped_;   // mapped and not verified yet
  std::span<std::byte> unread_;  // the rest of the part that was mapped last
};

}  // namespace bulkhead::sandbox
