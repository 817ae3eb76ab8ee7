// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/granted_paths.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

namespace bulkhead::sandbox {
namespace {

using Kind = GrantedPath::Kind;

constexpr size_t kMaxDevices = 256;
constexpr unsigned kMemoryMajor = 1;

std::string ErrnoText(int error) {
  return error == ELOOP ? "a part of it is a symbolic link; grant the path "
                          "that it leads to"
                        : std::generic_category().message(error);
}

bool HasModes(const struct stat& info, mode_t modes) {
  return (info.st_mode & modes) == modes;
}

// Returns whether `node` is /dev/mem, /dev/kmem or /dev/port.
bool IsMachineMemory(dev_t node) {
  const unsigned number = minor(node);
  return major(node) == kMemoryMajor &&
         (number == 1 || number == 2 || number == 4);
}

// Returns the names in a directory in ascending order. Adds the reason to
// `problems` if the directory exists and cannot be read.
std::vector<std::string> NamesIn(const std::string& directory,
                                 std::vector<std::string>& problems) {
  std::vector<std::string> names;
  const ipc::UniqueFd path = OpenWithoutLinks(directory);
  const int fd =
      path ? openat(path.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd < 0) {
    if (errno != ENOENT && errno != ENOTDIR) {
      problems.push_back(directory + ": " + ErrnoText(errno));
    }
    return names;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(fd), closedir);
  if (!listing) {
    close(fd);
    return names;
  }
  while (const dirent* entry = readdir(listing.get())) {
    names.push_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Expands a glob part by part: adds the paths to `paths` that match `rest`
// ("/a/b*") below the directory `found`.
void Expand(const std::string& found, const std::string& rest,
            std::vector<std::string>& paths,
            std::vector<std::string>& problems) {
  if (paths.size() >= kMaxDevices) return;
  if (rest.empty()) return paths.push_back(found);
  const size_t end = std::min(rest.find('/', 1), rest.size());
  const std::string part = rest.substr(1, end - 1);
  const std::string further = rest.substr(end);
  if (part.find_first_of("*?[") == std::string::npos) {
    return Expand(found + "/" + part, further, paths, problems);
  }
  for (const std::string& name : NamesIn(found, problems)) {
    if (name == "." || name == ".." ||
        fnmatch(part.c_str(), name.c_str(), FNM_PERIOD | FNM_NOESCAPE) != 0) {
      continue;
    }
    Expand(found + "/" + name, further, paths, problems);
  }
}

Result<GrantedPath> ResolveDevice(const std::string& path) {
  const ipc::UniqueFd fd = OpenWithoutLinks(path);
  struct stat info = {};
  if (!fd || fstat(fd.get(), &info) != 0) {
    return Status(errno == ENOENT ? Code::kNotFound : Code::kInvalidArgument,
                  path + ": " + ErrnoText(errno));
  }
  const char* objection =
      S_ISBLK(info.st_mode)    ? "is storage, which cannot be granted"
      : !S_ISCHR(info.st_mode) ? "is not the node of a device"
      : IsMachineMemory(info.st_rdev)
          ? "is the machine's memory, which cannot be granted"
          : nullptr;
  if (objection != nullptr) {
    return Status(Code::kInvalidArgument, path + " " + objection);
  }
  return GrantedPath{path, Kind::kDevice, IdentityOf(fd.get()),
                     HasModes(info, S_IROTH | S_IWOTH)};
}

}  // namespace

ipc::UniqueFd OpenWithoutLinks(const std::string& path) {
  open_how how = {};
  // No O_NOFOLLOW: with O_PATH it would open a link at the end instead of
  // failing.
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return ipc::UniqueFd(static_cast<int>(
      syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof(how))));
}

ObjectIdentity IdentityOf(int fd) {
  struct stat info = {};
  if (fstat(fd, &info) != 0) return {};
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .node = S_ISCHR(info.st_mode) ? info.st_rdev : 0};
}

Result<GrantedPath> ResolveReadable(const std::string& path) {
  const ipc::UniqueFd fd = OpenWithoutLinks(path);
  struct stat info = {};
  if (!fd || fstat(fd.get(), &info) != 0) {
    return Status(errno == ENOENT ? Code::kNotFound : Code::kInvalidArgument,
                  path + ": " + ErrnoText(errno));
  }
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    return Status(Code::kInvalidArgument,
                  path + " is neither a file nor a directory");
  }
  return GrantedPath{
      path, S_ISDIR(info.st_mode) ? Kind::kDirectory : Kind::kFile,
      IdentityOf(fd.get()),
      HasModes(info, S_ISDIR(info.st_mode) ? S_IROTH | S_IXOTH : S_IROTH)};
}

std::string ClosedDirectoryAbove(const std::string& path) {
  for (size_t slash = 0; slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string directory = slash == 0 ? "/" : path.substr(0, slash);
    struct stat info = {};
    // A directory that even this process cannot see counts as closed.
    if (stat(directory.c_str(), &info) != 0 || !HasModes(info, S_IXOTH)) {
      return directory;
    }
  }
  return "";
}

std::string ObstacleTo(const GrantedPath& granted, Reach reach) {
  const bool is_device = granted.kind == Kind::kDevice;
  if (reach.own_uid) {
    if (granted.open_to_all) {
      const std::string closed =
          reach.own_root ? "" : ClosedDirectoryAbove(granted.path);
      if (closed.empty()) return "";
      return granted.path + " lies below " + closed +
             ", which a backend may not enter, since it has a uid of its own: "
             "chmod o+x " +
             closed;
    }
    return granted.path +
           " is not open to all, and started as root a backend has a uid of "
           "its own, which is in no group: start as an ordinary user who may "
           "open it, or open it to all, " +
           (is_device ? "by a udev rule with MODE=\"0666\"" : "see chmod");
  }
  const int mode = is_device                          ? R_OK | W_OK
                   : granted.kind == Kind::kDirectory ? R_OK | X_OK
                                                      : R_OK;
  if (faccessat(AT_FDCWD, granted.path.c_str(), mode, AT_EACCESS) == 0) {
    return "";
  }
  return granted.path +
         " cannot be opened by the user who runs this, whose uid and groups "
         "the backend has: " +
         ErrnoText(errno);
}

std::vector<GrantedPath> ResolveDevices(
    const std::string& glob,
    const std::function<bool(const std::string&)>& filter,
    std::vector<std::string>& problems) {
  std::vector<std::string> paths;
  Expand("", glob, paths, problems);
  std::vector<GrantedPath> devices;
  for (const std::string& path : paths) {
    if (!filter(path)) continue;
    Result<GrantedPath> device = ResolveDevice(path);
    if (device) {
      devices.push_back(*std::move(device));
    } else {
      problems.push_back(device.error().message());
    }
  }
  if (paths.empty()) problems.push_back(glob + ": there is no such device");
  return devices;
}

}  // namespace bulkhead::sandbox
