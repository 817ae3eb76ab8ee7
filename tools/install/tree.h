// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::install {

// Operations on files below an open directory. `root` is its descriptor, which
// the caller owns. Paths are relative to it, and the caller has validated them.
// No link is followed, so nothing outside of the directory is ever written or
// removed. Error messages quote the path. Thread-safe, except that concurrent
// changes of one path have no order.

// Returns a Status for the errno `error`, with the message "WHAT: TEXT". The
// code is kResourceExhausted if space, memory or descriptors ran out, and
// kInvalidArgument for all other errors.
Status FromErrno(const std::string& what, int error);

enum class Kind : uint8_t { kFile, kFolder, kLink, kOther };

// Returns the kind of the file at `path`, or nullopt if there is none, or if a
// parent of `path` is not a folder.
std::optional<Kind> KindAt(int root, const std::string& path);

// Opens the folder `path`. Creates it and its parents, with mode 0755, if they
// are missing.
Result<ipc::UniqueFd> MakeFolder(int root, const std::string& path);

// Creates a file with exactly this mode, regardless of the umask. Creates
// missing parents as MakeFolder does. Fails if the file exists.
Result<ipc::UniqueFd> CreateFile(int root, const std::string& path,
                                 uint32_t mode);
// Writes all bytes to the open file.
Status WriteAll(int fd, std::span<const char> bytes);
// Creates a file as CreateFile does, and writes `bytes` to it.
Status WriteFile(int root, const std::string& path, const std::string& bytes,
                 uint32_t mode);

// Moves a file, link or folder from below `from` to the same path below `to`,
// on the same file system. Creates missing parents as MakeFolder does. Fails if
// the source is missing or the target exists.
Status Move(int from, int to, const std::string& path);

// Removes a file, or a folder with all of its contents. Does nothing if there
// is none.
Status RemoveTree(int root, const std::string& path);
// Removes the folder `path` if it is empty.
void RemoveEmptyFolder(int root, const std::string& path);
// Removes the parents of `path`, innermost first, up to the first that is not
// empty.
void RemoveEmptyParents(int root, const std::string& path);

// Returns the parent of a path: "a/b" for "a/b/c", an empty text for "c".
std::string ParentOf(const std::string& path);

}  // namespace bulkhead::install
