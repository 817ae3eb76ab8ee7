// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bulkhead::sandbox {

// Closes a covert channel from a session's worker to other processes: futexes
// in pages of files that both processes map. A futex without FUTEX_PRIVATE_FLAG
// is shared by all processes that map the same page of a file. All processes
// map the same libraries. So a worker could wake sleepers in other processes
// and transmit what it decodes by the wake-ups.
//
//   if (auto mappings = FileMappings(worker)) {
//     filter = KeptFromFiles(RangesOf(*mappings), filter);
//   }
//
// bulkheadd reads the mappings when the worker installs its last filter, after
// which the worker can map no further file. held_files.h closes another covert
// channel: which pages of a file are in memory.

// Addresses from `begin` up to `end`.
struct AddressRange {
  uint64_t begin;
  uint64_t end;
};

// A part of a file that a process maps.
struct FileMapping {
  AddressRange range;
  uint64_t offset;  // of the part in the file
  // The device number of the file system, and the inode there. Both are as in
  // /proc/PID/maps, which may differ from what stat() returns.
  uint64_t device;
  uint64_t inode;
  // The path as the kernel writes it: in the process's mount namespace, and
  // followed by " (deleted)" if the file was removed.
  std::string path;
};

// Returns the parts of files that the process maps, in ascending order of their
// addresses. The list is empty for a process that is ending and has given up
// its memory. Returns nullopt if /proc does not show the mappings.
std::optional<std::vector<FileMapping>> FileMappings(pid_t process);

// Returns the addresses of the mappings, in the same order.
std::vector<AddressRange> RangesOf(const std::vector<FileMapping>& mappings);

// Returns a filter that decides as `filter` does, except for these calls with
// an address in one of the ranges:
// - futex() without FUTEX_PRIVATE_FLAG: FUTEX_WAKE fails with EINVAL, all other
//   commands with EAGAIN;
// - clone() with the address as child_tid, where the kernel would write 0 and
//   wake a sleeper when the new thread ends: fails with EAGAIN;
// - mremap(), which could move a page of a file or map more of the file: fails
//   with EPERM.
// A filter has room for a limited number of ranges. If there are more, the
// closest ones are joined, and the addresses between them count as well.
std::vector<sock_filter> KeptFromFiles(std::vector<AddressRange> ranges,
                                       const std::vector<sock_filter>& filter);

}  // namespace bulkhead::sandbox
