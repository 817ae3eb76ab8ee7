// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// Turns the paths that an operator granted into things that exist, as bulkheadd
// sees them right before a launch. A path stands for what lies there itself:
// none of its parts may be a symbolic link, or whoever may write to one of its
// directories could have it mean anything. What is found is named with its
// identity, and the sandbox shows it only if it is still that: see new_root.h
// and the lock-down.

// Which object a path meant.
struct ObjectIdentity {
  uint64_t device = 0;  // of the file system
  uint64_t inode = 0;
  uint64_t node = 0;  // for a device node, its device number; else 0

  bool operator==(const ObjectIdentity&) const = default;
};

struct GrantedPath {
  enum class Kind { kFile, kDirectory, kDevice };

  std::string path;
  Kind kind;
  ObjectIdentity identity;
  // By its mode, a uid that nothing belongs to may use it.
  bool open_to_all = true;

  bool operator==(const GrantedPath&) const = default;
};

// Opens `path`, absolute, with O_PATH, unless a part of it is a symbolic link.
// errno is set where it returns nothing: ELOOP is a link.
ipc::UniqueFd OpenWithoutLinks(const std::string& path);
// Empty identity: it cannot be told.
ObjectIdentity IdentityOf(int fd);

// A regular file or a directory.
Result<GrantedPath> ResolveReadable(const std::string& path);

// Why a backend cannot open it though it was granted, or nothing. With a uid of
// its own it is in no group; otherwise it may what this process may.
std::string ObstacleTo(const GrantedPath& granted, bool own_uid);

// The nodes of character devices that match `glob` and of which `filter` says
// yes; by name. What else matches is in `problems`, one sentence each. Block
// devices are storage, and a worker that may open one may write to it: they are
// not shown, nor is the memory of the machine.
std::vector<GrantedPath> ResolveDevices(
    const std::string& glob,
    const std::function<bool(const std::string&)>& filter,
    std::vector<std::string>& problems);

}  // namespace bulkhead::sandbox
