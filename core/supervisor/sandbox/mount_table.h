// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/supervisor/sandbox/mount_info.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// Says which files are on a file system that another program or machine serves
// (FUSE, NFS), by its type. Whoever reads such a file may wait for ever.
//
// Reads the mounts of this process again once they have changed: a machine of
// containers has thousands. Not thread-safe.
class MountTable {
 public:
  // Returns whether `path`, which is absolute, is on such a file system.
  // Follows symbolic links, and touches no file of such a place.
  bool IsRemote(const std::string& path);
  // Returns the same for a file system, by the number that the kernel writes
  // into /proc/PID/maps.
  bool IsRemote(uint64_t device);

 private:
  void Refresh();
  bool LiesOnRemote(const std::string& path) const;

  ipc::UniqueFd changes_;  // of the table; opened at the first look
  std::vector<MountInfo> mounts_;
};

}  // namespace bulkhead::sandbox
