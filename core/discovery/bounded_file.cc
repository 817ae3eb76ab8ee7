// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/bounded_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/discovery/text.h"
#include "core/status_macros.h"

namespace bulkhead::discovery {
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

int OpenBeneath(int directory, const std::string& path, int flags) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return errno = ENOENT, -1;
  }
  if (path.front() == '/') return errno = EXDEV, -1;
  open_how how = {};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  // EAGAIN: something was renamed meanwhile and the kernel could not tell
  // whether the walk stayed beneath.
  for (int attempt = 0; attempt < 8; ++attempt) {
    const long fd =
        syscall(SYS_openat2, directory, path.c_str(), &how, sizeof(how));
    if (fd >= 0) return static_cast<int>(fd);
    if (errno == ENOSYS || errno == EPERM) {
      return OpenNoLinks(directory, path, flags);
    }
    if (errno != EAGAIN && errno != EINTR) break;
  }
  return -1;
}

Result<ipc::UniqueFd> OpenRegular(int directory, const std::string& path,
                                  struct stat& info) {
  // O_PATH first: merely opening a device can do something to it.
  const ipc::UniqueFd seen(OpenBeneath(directory, path, O_PATH));
  if (!seen) return FromErrno(path, errno);
  if (fstat(seen.get(), &info) != 0) return FromErrno(path, errno);
  if (S_ISREG(info.st_mode)) {
    // What was seen may have been replaced: hence O_NONBLOCK, for a FIFO, and
    // the second look.
    ipc::UniqueFd fd(
        OpenBeneath(directory, path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
    if (!fd) return FromErrno(path, errno);
    if (fstat(fd.get(), &info) != 0) return FromErrno(path, errno);
    if (S_ISREG(info.st_mode)) return fd;
  }
  return Status(Code::kUnsupported, Quoted(path) + " is not a regular file");
}

}  // namespace

Result<ipc::UniqueFd> OpenRegularFileBeneath(int directory,
                                             const std::string& path) {
  struct stat info;
  return OpenRegular(directory, path, info);
}

Result<ipc::UniqueFd> OpenDirectoryBeneath(int directory,
                                           const std::string& path) {
  ipc::UniqueFd fd(OpenBeneath(directory, path, O_RDONLY | O_DIRECTORY));
  if (fd) return fd;
  if (errno == ENOTDIR) {
    return Status(Code::kUnsupported, Quoted(path) + " is not a directory");
  }
  return FromErrno(path, errno);
}

Result<std::string> ReadFileBeneath(int directory, const std::string& path,
                                    size_t max_bytes) {
  struct stat info;
  ASSIGN_OR_RETURN(const ipc::UniqueFd fd, OpenRegular(directory, path, info));
  const Status too_big(
      Code::kResourceExhausted,
      Quoted(path) + " has more than " + std::to_string(max_bytes) + " bytes");
  if (static_cast<uint64_t>(info.st_size) > max_bytes) return too_big;

  std::string contents;
  while (true) {
    // The file may have grown since, or be one of those that say 0.
    char buffer[16384];
    const ssize_t got = read(fd.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FromErrno(path, errno);
    if (got == 0) return contents;
    if (contents.size() + static_cast<size_t>(got) > max_bytes) return too_big;
    contents.append(buffer, static_cast<size_t>(got));
  }
}

}  // namespace bulkhead::discovery
