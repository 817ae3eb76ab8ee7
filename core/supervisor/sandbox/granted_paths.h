// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// Finds the files and devices to which an operator's granted paths lead, right
// before a launch. No part of a granted path may be a symbolic link: otherwise
// anybody who may write to one of its directories could make the path lead to
// anything. Each file or device is returned with its identity (device number
// and inode). The sandbox shows a path only if it still leads to the object
// with this identity (new_root.h and the lock-down check it).

// The identity of a file, directory or device node.
struct ObjectIdentity {
  uint64_t device = 0;  // The device number of the file system.
  uint64_t inode = 0;
  uint64_t node = 0;  // The device number of a device node, else 0.

  bool operator==(const ObjectIdentity&) const = default;
};

// A granted path and the object to which it led.
struct GrantedPath {
  enum class Kind { kFile, kDirectory, kDevice };

  std::string path;
  Kind kind;
  ObjectIdentity identity;
  // True if the permission bits let every user read the file, list and enter
  // the directory, or read and write the device.
  bool open_to_all = true;

  bool operator==(const GrantedPath&) const = default;
};

// Opens an absolute path with O_PATH. On failure returns an empty descriptor
// and sets errno, to ELOOP if a part of the path is a symbolic link.
ipc::UniqueFd OpenWithoutLinks(const std::string& path);
// Returns the identity of an open object, or an empty identity if fstat fails.
ObjectIdentity IdentityOf(int fd);

// Returns the regular file or directory at `path`. Fails with kNotFound if
// `path` does not exist, and with kInvalidArgument if it leads to something
// else or a part of it is a symbolic link.
Result<GrantedPath> ResolveReadable(const std::string& path);

// Returns the topmost directory above `path` that some users may not enter, or
// an empty string if all users may enter all of them. In tier reduced, a
// backend with a user id of its own cannot open files below such a directory.
std::string ClosedDirectoryAbove(const std::string& path);

// The properties of a sandbox that decide which files a backend can open.
struct Reach {
  bool own_uid = false;   // The backend has a user id of its own.
  bool own_root = false;  // The backend's root is made of mounts (tier full).
};

// Returns why a backend cannot open `granted` although it was granted, or an
// empty string if it can. A backend with a user id of its own is in no group.
// Any other backend has the rights of this process.
std::string ObstacleTo(const GrantedPath& granted, Reach reach);

// Returns the character devices that match `glob` and for which `filter`
// returns true, in order of their names. Adds a sentence to `problems` for each
// such match that cannot be granted, for each directory that cannot be listed,
// and if nothing matches. Never returns block devices, since a worker could
// write to storage, nor the memory of the machine (/dev/mem, /dev/kmem and
// /dev/port).
std::vector<GrantedPath> ResolveDevices(
    const std::string& glob,
    const std::function<bool(const std::string&)>& filter,
    std::vector<std::string>& problems);

}  // namespace bulkhead::sandbox
