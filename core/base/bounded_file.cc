// SPDX-License-Identifier: Apache-2.0
#include "core/base/bounded_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/status_macros.h"
#include "core/base/text.h"

namespace bulkhead {
namespace {

Status FromErrno(const std::string& path, int error) {
  const std::string text =
      Quoted(path) + ": " + std::generic_category().message(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return Status(Code::kNotFound, text);
    case EXDEV:
      return Status(Code::kInvalidArgument,
                    Quoted(path) + " leads out of its directory");
    case ELOOP:
      return Status(Code::kInvalidArgument,
                    Quoted(path) + " is a link that leads nowhere");
    default:
      return Status(Code::kBackendUnavailable, text);
  }
}

// Replaces openat2 on kernels without it: opens the path part by part and
// follows no link.
int OpenNoLinks(int directory, std::string_view path, int flags) {
  ipc::UniqueFd at;
  while (true) {
    const size_t slash = path.find('/');
    const std::string part(path.substr(0, slash));
    if (part == "..") return errno = EXDEV, -1;
    const bool last = slash == std::string_view::npos;
    const int fd =
        openat(at ? at.get() : directory, part.c_str(),
               O_NOFOLLOW | O_CLOEXEC | (last ? flags : O_PATH | O_DIRECTORY));
    if (last || fd < 0) return fd;
    at = ipc::UniqueFd(fd);
    path.remove_prefix(slash + 1);
  }
}

// Opens `path` below `directory`. If no part of the path is "..", the caller
// may pass RESOLVE_NO_SYMLINKS instead, which then stays below the directory as
// well and is quicker.
int OpenBeneath(int directory, const std::string& path, int flags,
                unsigned resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return errno = ENOENT, -1;
  }
  if (path.front() == '/') return errno = EXDEV, -1;
  open_how how = {};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  how.resolve = resolve;
  // EAGAIN means that some file of the machine was renamed meanwhile, so the
  // kernel could not tell whether a walk through ".." stayed below the
  // directory. A machine that renames files all the time (a build) can make
  // many walks in a row fail.
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const long fd =
        syscall(SYS_openat2, directory, path.c_str(), &how, sizeof(how));
    if (fd >= 0) return static_cast<int>(fd);
    // EPERM comes from a seccomp filter around this process that does not know
    // openat2.
    if (errno == ENOSYS || errno == EPERM) {
      return OpenNoLinks(directory, path, flags);
    }
    if (errno != EAGAIN && errno != EINTR) break;
  }
  return -1;
}

Status NotRegular(const std::string& path) {
  return Status(Code::kUnsupported, Quoted(path) + " is not a regular file");
}

constexpr int kReadOnly = O_RDONLY | O_NONBLOCK | O_NOCTTY;

// Opens a regular file whose path may contain links. Checks the file first with
// an O_PATH descriptor, since opening a device otherwise can have an effect.
Result<ipc::UniqueFd> OpenThroughLinks(int directory, const std::string& path,
                                       struct stat& info) {
  const ipc::UniqueFd seen(OpenBeneath(directory, path, O_PATH));
  if (!seen) {
    // ENOENT may mean a dangling link, which is reported differently from a
    // missing file.
    const int error = errno;
    const ipc::UniqueFd link(
        error == ENOENT ? OpenBeneath(directory, path, O_PATH | O_NOFOLLOW)
                        : -1);
    return FromErrno(path, link ? ELOOP : error);
  }
  if (fstat(seen.get(), &info) != 0) return FromErrno(path, errno);
  if (!S_ISREG(info.st_mode)) return NotRegular(path);
  // The path may lead to another file by now, so the file is checked again.
  ipc::UniqueFd fd(OpenBeneath(directory, path, kReadOnly));
  if (!fd || fstat(fd.get(), &info) != 0) return FromErrno(path, errno);
  if (!S_ISREG(info.st_mode)) return NotRegular(path);
  return fd;
}

bool IsOneName(const std::string& path) {
  return !path.empty() && path != "." && path != ".." &&
         path.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
}

bool GoesUp(const std::string& path) {
  return path.starts_with("../") || path.ends_with("/..") ||
         path.find("/../") != std::string::npos;
}

// Checks the file before opening it, since merely opening a device can have an
// effect. The file may be replaced in between. So it is opened with O_NONBLOCK,
// with which a FIFO does not block, and checked again.
Result<ipc::UniqueFd> OpenRegular(int directory, const std::string& path,
                                  struct stat& info,
                                  bool plain_folders = false) {
  // Nearly every path is one name, or lies below plain folders, and has no link
  // to follow. For such paths the code below is cheaper.
  if (plain_folders ? GoesUp(path) : !IsOneName(path)) {
    return OpenThroughLinks(directory, path, info);
  }
  if (fstatat(directory, path.c_str(), &info,
              AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0) {
    return FromErrno(path, errno);
  }
  if (S_ISLNK(info.st_mode)) return OpenThroughLinks(directory, path, info);
  if (!S_ISREG(info.st_mode)) return NotRegular(path);
  ipc::UniqueFd fd(
      OpenBeneath(directory, path, kReadOnly, RESOLVE_NO_SYMLINKS));
  if (!fd && errno == ELOOP) return OpenThroughLinks(directory, path, info);
  if (!fd || fstat(fd.get(), &info) != 0) return FromErrno(path, errno);
  if (!S_ISREG(info.st_mode)) return NotRegular(path);
  return fd;
}

}  // namespace

Result<ipc::UniqueFd> OpenRegularFileBeneath(int directory,
                                             const std::string& path) {
  struct stat info;
  return OpenRegular(directory, path, info);
}

Status FindDirectoryBeneath(int directory, const std::string& path) {
  struct stat info;
  if (IsOneName(path) &&
      fstatat(directory, path.c_str(), &info,
              AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0 &&
      S_ISDIR(info.st_mode)) {
    return Status();
  }
  const ipc::UniqueFd fd(OpenBeneath(directory, path, O_PATH | O_DIRECTORY));
  if (fd) return Status();
  if (errno == ENOTDIR) {
    return Status(Code::kUnsupported, Quoted(path) + " is not a directory");
  }
  return FromErrno(path, errno);
}

Result<std::string> ReadFileBeneath(int directory, const std::string& path,
                                    const ReadOptions& options) {
  struct stat info;
  ASSIGN_OR_RETURN(const ipc::UniqueFd fd,
                   OpenRegular(directory, path, info, options.plain_folders));
  const size_t max_bytes = options.max_bytes;
  const auto too_big = [&] {
    return Status(Code::kResourceExhausted, Quoted(path) + " has more than " +
                                                std::to_string(max_bytes) +
                                                " bytes");
  };
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size > max_bytes) return too_big();

  std::string contents;
  while (true) {
    char buffer[16384];
    const ssize_t got = read(fd.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FromErrno(path, errno);
    if (got == 0) return contents;
    if (contents.size() + static_cast<size_t>(got) > max_bytes) {
      return too_big();
    }
    contents.append(buffer, static_cast<size_t>(got));
    // A short read that ends at the size of the file has reached its end, so no
    // further read is needed. (Files of /proc report size 0 and have contents,
    // so they are read until a read returns nothing.)
    if (contents.size() == size && got < ssize_t{sizeof(buffer)}) {
      return contents;
    }
    if (options.saw_enough != nullptr && options.saw_enough(contents)) {
      return contents;
    }
  }
}

Result<std::string> ReadFileBeneath(int directory, const std::string& path,
                                    size_t max_bytes) {
  return ReadFileBeneath(directory, path, ReadOptions{.max_bytes = max_bytes});
}

}  // namespace bulkhead
