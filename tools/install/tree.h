// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::install {

// Files below an open directory, named by relative paths that were validated.
// No link is followed on the way, so that nothing is ever written or removed
// outside of the directory, whatever lies in it. `root` is borrowed. Paths in
// messages are quoted. Thread-safe, as far as the file system is.

// What the kernel said, as a Status that names the place: kResourceExhausted
// where space ran out, otherwise kInvalidArgument.
Status FromErrno(const std::string& what, int error);

enum class Kind : uint8_t { kFile, kFolder, kLink, kOther };

// What is at `path`; nothing if nothing is, or if the way there leads through
// something that is no folder.
std::optional<Kind> KindAt(int root, const std::string& path);

// Opens the folder, making those on the way that are missing (0755).
Result<ipc::UniqueFd> MakeFolder(int root, const std::string& path);

// A new file with this mode, whatever the umask; folders as above.
Result<ipc::UniqueFd> CreateFile(int root, const std::string& path,
                                 uint32_t mode);
Status WriteAll(int fd, std::span<const char> bytes);
Status WriteFile(int root, const std::string& path, const std::string& bytes,
                 uint32_t mode);

// Moves a file, link or folder to the same path below `to`, on the same file
// system; never over something.
Status Move(int from, int to, const std::string& path);

Status RemoveFile(int root, const std::string& path);
Status RemoveTree(int root, const std::string& path);
// Only if it is empty; says nothing otherwise.
void RemoveEmptyFolder(int root, const std::string& path);
// The folders on the way to `path`, innermost first, up to the first that is
// not empty.
void RemoveEmptyParents(int root, const std::string& path);

// "a/b" of "a/b/c"; empty for "c".
std::string ParentOf(const std::string& path);

}  // namespace bulkhead::install
