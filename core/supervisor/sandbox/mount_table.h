// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/supervisor/sandbox/mount_info.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// Says which files are remote: files on a file system that another program or
// machine serves (FUSE, NFS). Decides by the type of the file system. Reading a
// remote file may block for ever.
//
// Caches the mounts of this process, and reads them again only after a change:
// a machine that runs containers has thousands of mounts. Not thread-safe.
class MountTable {
 public:
  // Returns whether the absolute `path` is remote. Follows symbolic links, but
  // reads nothing on a remote file system.
  bool IsRemote(const std::string& path);
  // Returns whether a file system is remote, given the device number that
  // /proc/PID/maps shows.
  bool IsRemote(uint64_t device);

 private:
  void Refresh();
  bool LiesOnRemote(const std::string& path) const;

  // /proc/self/mountinfo; poll() on it says whether the mounts have changed.
  ipc::UniqueFd changes_;
  std::vector<MountInfo> mounts_;
};

}  // namespace bulkhead::sandbox
