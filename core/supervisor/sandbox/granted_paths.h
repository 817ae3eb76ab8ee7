// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// Turns the paths that an operator granted into objects that exist, as
// bulkheadd sees them right before a launch. No part of a granted path may be a
// symbolic link: otherwise anybody who may write to one of its directories
// could make the path mean anything. Each object is returned with its identity,
// and the sandbox shows it only if the path still leads to that object
// (new_root.h and the lock-down check it).

// Identifies the object that a path led to.
struct ObjectIdentity {
  uint64_t device = 0;  // The device number of the file system.
  uint64_t inode = 0;
  uint64_t node = 0;  // The device number of a device node, else 0.

  bool operator==(const ObjectIdentity&) const = default;
};

struct GrantedPath {
  enum class Kind { kFile, kDirectory, kDevice };

  std::string path;
  Kind kind;
  ObjectIdentity identity;
  // True if the mode lets a user id without any group use the object.
  bool open_to_all = true;

  bool operator==(const GrantedPath&) const = default;
};

// Opens an absolute path with O_PATH. Returns an empty descriptor and sets
// errno if that fails; errno is ELOOP if a part of the path is a symbolic link.
ipc::UniqueFd OpenWithoutLinks(const std::string& path);
// Returns the identity of an open object, or an empty identity if fstat fails.
ObjectIdentity IdentityOf(int fd);

// Returns the regular file or directory at `path`. Fails with kNotFound if
// there is none, and with kInvalidArgument if `path` leads to something else or
// a part of `path` is a link.
Result<GrantedPath> ResolveReadable(const std::string& path);

// Returns the first directory above `path` that a user id without any group may
// not enter, or an empty string. Without a root of its own (tier reduced), a
// backend with a user id of its own reaches nothing below such a directory.
std::string ClosedDirectoryAbove(const std::string& path);

// The way from a backend to a file.
struct Reach {
  bool own_uid = false;   // The backend has a user id of its own.
  bool own_root = false;  // Mounts show the file, whatever lies above it.
};

// Returns why a backend cannot open `granted` although it was granted, or an
// empty string if it can. A backend with a user id of its own is in no group;
// any other backend may open what this process may.
std::string ObstacleTo(const GrantedPath& granted, Reach reach);

// Returns the character devices that match `glob` and for which `filter`
// returns true, in order of their names. Adds one sentence to `problems` for
// each other match. Two kinds of device are never returned: block devices are
// storage, to which a worker that may open one may write, and /dev/mem,
// /dev/kmem and /dev/port are the memory of the machine.
std::vector<GrantedPath> ResolveDevices(
    const std::string& glob,
    const std::function<bool(const std::string&)>& filter,
    std::vector<std::string>& problems);

}  // namespace bulkhead::sandbox
