// SPDX-License-Identifier: Apache-2.0
#include "tools/grant_editing/grant_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "core/grants/grant_reader.h"
#include "ipc/unique_fd.h"
#include "tools/install/directory_lock.h"

namespace bulkhead::grant_editing {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kPatience{10'000};  // For the lock.

Status FromErrno(const std::string& what) {
  return Status(Code::kInvalidArgument,
                what + ": " + std::generic_category().message(errno));
}

Status MakeFolders(const fs::path& folder, mode_t mode) {
  if (folder.empty() || folder == folder.root_path()) return Status();
  struct stat info = {};
  if (stat(folder.c_str(), &info) == 0) return Status();
  if (Status made = MakeFolders(folder.parent_path(), mode); !made.ok()) {
    return made;
  }
  if (mkdir(folder.c_str(), mode) == 0 || errno == EEXIST) return Status();
  return FromErrno("cannot make " + folder.string());
}

Result<install::DirectoryLock> Lock(const std::string& folder) {
  auto lock = install::DirectoryLock::Acquire(folder, kPatience);
  if (lock || lock.error().code() != Code::kDeadlineExceeded) return lock;
  return Status(Code::kDeadlineExceeded, "somebody else is editing grants in " +
                                             folder +
                                             "; try again when that is done");
}

Status WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FromErrno("cannot write");
    text.remove_prefix(static_cast<size_t>(written));
  }
  return Status();
}

// Writes the text to a temporary file in the locked folder, and renames that
// file to `name`. The lock keeps other editors from using the temporary name.
Status Replace(int folder, const std::string& name, mode_t mode,
               std::string_view text) {
  const std::string temporary = "." + name + ".new";
  unlinkat(folder, temporary.c_str(), 0);
  const ipc::UniqueFd file(
      openat(folder, temporary.c_str(),
             O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!file) return FromErrno("cannot make " + temporary);
  Status status = WriteAll(file.get(), text);
  // The mode is set again, because the umask may have removed the permission of
  // other users to read the file.
  if (status.ok() &&
      (fchmod(file.get(), mode) != 0 || fsync(file.get()) != 0 ||
       renameat(folder, temporary.c_str(), folder, name.c_str()) != 0 ||
       fsync(folder) != 0)) {
    status = FromErrno("cannot replace " + name);
  }
  if (!status.ok()) unlinkat(folder, temporary.c_str(), 0);
  return status;
}

}  // namespace

Status EditGrantFile(const std::string& path, GrantAudience audience,
                     const GrantEdit& edit) {
  const bool everybody = audience == GrantAudience::kEverybody;
  const fs::path file(path);
  const fs::path folder = file.parent_path();
  if (Status made = MakeFolders(folder, everybody ? 0755 : 0700); !made.ok()) {
    return made;
  }
  const Result<install::DirectoryLock> lock = Lock(folder);
  if (!lock) return lock.error();
  const Result<std::string> before = grants::ReadBelievedFile(path);
  if (!before && before.error().code() != Code::kNotFound) {
    return Status(before.error().code(),
                  path + ": " + before.error().message());
  }
  const Result<std::string> after = edit(before ? *before : std::string());
  if (!after) {
    return Status(after.error().code(), path + ": " + after.error().message());
  }
  return Replace(lock->fd(), file.filename(), everybody ? 0644 : 0600, *after);
}

}  // namespace bulkhead::grant_editing
