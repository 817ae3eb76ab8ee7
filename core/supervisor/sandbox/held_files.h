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

// A table of the parts of files that are held for any backend. Backends share
// these parts, since all of them map the same libraries. The table does not own
// the parts: a part lives as long as a HeldFiles has it. Not thread-safe.
class HeldParts {
 public:
  using FileId = std::pair<uint64_t, uint64_t>;  // device and inode

  HeldParts();
  // For tests. `is_remote` says which devices (file systems) are remote.
  explicit HeldParts(std::function<bool(uint64_t)> is_remote)
      : is_remote_(std::move(is_remote)) {}

  // Returns the pages of the part from byte `begin` to byte `end` of the file,
  // or null if no HeldFiles has exactly this part.
  std::shared_ptr<const HeldPages> Find(FileId file, uint64_t begin,
                                        uint64_t end) const;
  // Adds a part to the table, so that Find() returns it.
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
  size_t most_ = 0;  // the size at which Add() removes entries of gone parts
  const std::function<bool(uint64_t)> is_remote_;
};

// Holds in memory the parts of files that the processes of a backend map. This
// closes a covert channel through the page cache: every process that may read a
// file can see which of its pages are in memory (mincore), and can drop pages
// that no process maps. So a session could transmit what it decodes by touching
// chosen pages of a library, or of a file that its vendor ships. Held pages are
// in memory before the session starts, and stay.
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
// To hold pages, bulkheadd maps them too, since vendor code could undo mappings
// in the zygote. bulkheadd opens the file by the path of the backend's mapping,
// or through /proc if the file was removed. After bulkheadd has mapped it,
// /proc/self/maps must show the same device and inode as for the backend. Files
// that no other process can open are not held: memory without a name (memfd),
// and files in the backend's own root, such as the private copy of its plugin.
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
  // - kLater: after the backend was ready. Add() refuses a remote file, since
  //   its file system may not answer.
  enum class When { kFirst, kLater };
  // Adds the parts that `process` maps (`mappings`) and that are not held yet.
  // Step() then holds them. Fails with kBackendUnavailable if the new parts
  // have more than `most_bytes`, if more than a thousand parts would be held,
  // or for a remote file (kLater). Fails with kResourceExhausted if too many
  // parts are held for all backends. A failed Add() adds nothing. A failed
  // Step() drops all parts that are not held yet.
  Status Add(pid_t process, const std::vector<FileMapping>& mappings,
             uint64_t most_bytes, When when);
  // Reads some MB of the part that was mapped last, or if all of it is read,
  // maps the next added part. Returns true if nothing is left to do. Fails with
  // kBackendUnavailable, naming the file, if the file was removed, is not
  // regular or cannot be read. Fails with kResourceExhausted if memory or
  // descriptors are short.
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
  // Checks that the parts in `mapped_` belong to the files that the backend
  // maps, and counts them as held. Reads /proc/self/maps once for all parts.
  Status Verify();

  HeldParts& shared_;
  std::map<FileId, Spans> held_;
  std::vector<std::shared_ptr<const HeldPages>> pages_;
  uint64_t bytes_ = 0;
  size_t name_bytes_ = 0;        // the sum of the lengths of all parts' paths
  std::vector<Part> parts_;      // added and not mapped yet
  std::vector<Mapped> mapped_;   // mapped and not verified yet
  std::span<std::byte> unread_;  // of the part that was mapped last
};

}  // namespace bulkhead::sandbox
