// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bulkhead::sandbox {

// Keeps a session from the pages of files that it shares with other processes.
// The kernel identifies a futex without FUTEX_PRIVATE_FLAG by the file and the
// page, whoever maps it. So two processes that map the same library, which all
// do, could wake each other there, and tell each other something by it.
//
//   if (auto mappings = FileMappings(worker)) {
//     filter = KeptFromFiles(RangesOf(*mappings), filter);
//   }
//
// The ranges belong to a process that can map no other file: a session's worker
// at the moment when its last filter is installed. Which pages of these files
// are in memory is seen by everybody too: bulkheadd holds them there
// (held_files.h).

// Addresses from `begin` up to `end`.
struct AddressRange {
  uint64_t begin;
  uint64_t end;
};

// A part of a file that a process maps.
struct FileMapping {
  AddressRange range;
  uint64_t offset;  // of the part in the file
  // The number that the kernel gives the file system, and the inode there. What
  // the kernel writes here may differ from what stat() returns.
  uint64_t device;
  uint64_t inode;
  // As the kernel writes it: followed by " (deleted)" if the file has no name
  // any more, and valid in the process's mount namespace.
  std::string path;
};

// Returns the parts of files that the process maps, in ascending order of their
// addresses. There is none if the process is about to end and has no memory any
// more. Returns nullopt if /proc does not show them.
std::optional<std::vector<FileMapping>> FileMappings(pid_t process);

std::vector<AddressRange> RangesOf(const std::vector<FileMapping>& mappings);

// Returns a filter that does as `filter`, except that within the ranges
// - FUTEX_WAIT and its like fail with EAGAIN, and FUTEX_WAKE with EINVAL, but
//   not with FUTEX_PRIVATE_FLAG,
// - clone() does not store or wake at the end of the new thread: EAGAIN, and
// - mremap() neither moves a page of a file nor maps more of the file: EPERM.
// Ranges that touch are one. Where there are more than a filter has room for,
// those that are closest to each other are joined; what lies between them fails
// in the same way.
std::vector<sock_filter> KeptFromFiles(std::vector<AddressRange> ranges,
                                       const std::vector<sock_filter>& filter);

}  // namespace bulkhead::sandbox
