// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/file_mappings.h"

namespace bulkhead::sandbox {

// Holds in memory what the processes of a backend map of files. Whoever may
// read a file can see which of its pages are in memory, and can drop those that
// nobody maps. So a session that touches pages of a library, or of a file that
// its vendor ships, could spell out in them what it decodes. Pages that are
// held are there before, and stay.
//
//   HeldFiles held;
//   RETURN_IF_ERROR(held.Add(zygote, *FileMappings(zygote), kMostBytes));
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
// that are in the root of the process's sandbox itself, such as the copy of its
// object.
//
// Two ways are left. The kernel drops pages if the machine has no memory, and
// whoever serves a file system (FUSE, NFS) sees what is read and can drop it.
//
// Takes address space and page tables of this process, and no memory for the
// pages, which the machine has once. Opening and reading the files blocks. Not
// thread-safe.
class HeldFiles {
 public:
  HeldFiles() = default;
  ~HeldFiles();
  HeldFiles(HeldFiles&& other) noexcept;
  HeldFiles& operator=(HeldFiles&&) = delete;

  // Adds what `process` maps and is not held yet. Fails with
  // kBackendUnavailable if that is more than `most_bytes`. After a failure, of
  // Step() too, nothing more is held than before; there is no second try.
  Status Add(pid_t process, const std::vector<FileMapping>& mappings,
             uint64_t most_bytes);
  // Maps the next part, or reads some MB of the last one. Returns true if
  // nothing is left to do. Fails with kBackendUnavailable, which names the
  // file, if it is not there any more, is no regular file, or cannot be read;
  // with kResourceExhausted if memory or descriptors are short.
  Result<bool> Step();

 private:
  using FileId = std::pair<uint64_t, uint64_t>;  // device and inode
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
    std::span<std::byte> memory;
  };

  Result<bool> Proceed();
  Status Map(Part part);
  // Compares the files that were mapped since the last call with those that
  // were meant.
  Status Verify();

  std::map<FileId, Spans> held_;
  std::vector<Part> parts_;     // to be mapped
  std::vector<Mapped> mapped_;  // all; those from `verified_` are unproven
  size_t verified_ = 0;
  std::span<std::byte> unread_;  // of the last one that was mapped
};

}  // namespace bulkhead::sandbox
