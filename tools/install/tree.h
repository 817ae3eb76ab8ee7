// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::install {

// Operations on files below an open directory `root`, which is borrowed. Paths
// are relative and were validated by the caller. No link is followed, so that
// nothing outside of the directory is written or removed, whatever the
// directory contains. Messages quote paths. Thread-safe as far as the file
// system is.

// Returns a Status with the text of `error`, an errno, after `what`:
// kResourceExhausted if space ran out, otherwise kInvalidArgument.
Status FromErrno(const std::string& what, int error);

enum class Kind : uint8_t { kFile, kFolder, kLink, kOther };

// Returns the kind of the file at `path`, or nullopt if there is none, or if a
// parent of `path` is not a folder.
std::optional<Kind> KindAt(int root, const std::string& path);

// Opens the folder `path`. Creates it and its parents, with mode 0755, if they
// are missing.
Result<ipc::UniqueFd> MakeFolder(int root, const std::string& path);

// Creates a file with exactly this mode, whatever the umask, and missing
// parents as MakeFolder does.
Result<ipc::UniqueFd> CreateFile(int root, const std::string& path,
                                 uint32_t mode);
Status WriteAll(int fd, std::span<const char> bytes);
Status WriteFile(int root, const std::string& path, const std::string& bytes,
                 uint32_t mode);

// Moves a file, link or folder from below `from` to the same path below `to`,
// on the same file system. Never replaces an existing file.
Status Move(int from, int to, const std::string& path);

Status RemoveFile(int root, const std::string& path);
Status RemoveTree(int root, const std::string& path);
// Removes the folder if it is empty. Does nothing otherwise.
void RemoveEmptyFolder(int root, const std::string& path);
// Removes the parents of `path`, innermost first, up to the first that is not
// empty.
void RemoveEmptyParents(int root, const std::string& path);

// Returns the parent of a path: "a/b" for "a/b/c", an empty text for "c".
std::string ParentOf(const std::string& path);

}  // namespace bulkhead::install
