// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/package_file_opening.h"

#include <fcntl.h>

#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>

#include "core/base/status_macros.h"
#include "core/base/text.h"

namespace bulkhead::discovery {
namespace {

// Turns the read permissions of a file into the permissions to enter a folder:
// r for owner, group or others becomes x for the same users.
mode_t EnterBits(mode_t readable) { return (readable & 0444) >> 2; }

Status CheckFolder(const struct stat& folder, const std::string& path,
                   const std::string& part, const struct stat& object) {
  if (S_ISLNK(folder.st_mode)) {
    errno = ELOOP;
    return FailedToOpen(path, part);
  }
  if (!S_ISDIR(folder.st_mode)) {
    errno = ENOTDIR;
    return FailedToOpen(path, part);
  }
  if (folder.st_uid != object.st_uid) {
    return RefusedFile(path, "lies in " + Quoted(part) +
                                 ", which does not belong to the owner of the "
                                 "backend's shared object");
  }
  if ((EnterBits(object.st_mode) & ~folder.st_mode) != 0) {
    return RefusedFile(path,
                       "lies in " + Quoted(part) +
                           ", which may be entered by fewer users than may "
                           "read the backend's shared object");
  }
  return Status();
}

Status CheckFile(const struct stat& file, const std::string& path,
                 const struct stat& object) {
  if (S_ISLNK(file.st_mode)) return RefusedFile(path, "is a symbolic link");
  if (!S_ISREG(file.st_mode)) return RefusedFile(path, "is not a regular file");
  if (file.st_uid != object.st_uid) {
    return RefusedFile(path,
                       "does not belong to the owner of the backend's shared "
                       "object");
  }
  if ((object.st_mode & 0444 & ~file.st_mode) != 0) {
    return RefusedFile(path,
                       "may be read by fewer users than the backend's shared "
                       "object");
  }
  return Status();
}

bool HasFurtherNames(const ipc::UniqueFd& file) {
  struct stat info = {};
  return fstat(file.get(), &info) != 0 || info.st_nlink > 1;
}

}  // namespace

Result<ipc::UniqueFd> OpenPackageFile(int directory_fd, const std::string& path,
                                      const struct stat& object) {
  // The path is opened part by part, since each folder on the way is checked.
  ipc::UniqueFd at;
  size_t begin = 0;
  for (size_t slash = path.find('/'); slash != std::string::npos;
       begin = slash + 1, slash = path.find('/', begin)) {
    const std::string part = path.substr(begin, slash - begin);
    ipc::UniqueFd folder(openat(at ? at.get() : directory_fd, part.c_str(),
                                O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat info = {};
    if (!folder || fstat(folder.get(), &info) != 0) {
      return FailedToOpen(path, path.substr(0, slash));
    }
    RETURN_IF_ERROR(CheckFolder(info, path, path.substr(0, slash), object));
    at = std::move(folder);
  }
  ipc::UniqueFd file(openat(at ? at.get() : directory_fd,
                            path.substr(begin).c_str(),
                            O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat info = {};
  if (!file || fstat(file.get(), &info) != 0) return FailedToOpen(path, path);
  RETURN_IF_ERROR(CheckFile(info, path, object));
  return file;
}

std::string DoubtOf(const ipc::UniqueFd& file, const struct stat& object) {
  if ((object.st_mode & 0444) != 0444) {
    return "is as private as the backend's shared object";
  }
  return HasFurtherNames(file) ? "has further names (hard links)" : "";
}

Status RefusedFile(const std::string& path, const std::string& why) {
  return Status(Code::kInvalidArgument, Quoted(path) + " " + why);
}

Status FailedToOpen(const std::string& path, const std::string& part) {
  switch (errno) {
    case ENOENT:
    // There is a file where RECORD has a folder.
    case ENOTDIR:
      return Status(Code::kNotFound, Quoted(path) + " does not exist");
    case ELOOP:
      return RefusedFile(
          path, "is reached through the symbolic link " + Quoted(part));
    default:
      return RefusedFile(
          path, "cannot be opened: " + std::generic_category().message(errno));
  }
}

}  // namespace bulkhead::discovery
