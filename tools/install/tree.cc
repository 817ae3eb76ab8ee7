// SPDX-License-Identifier: Apache-2.0
#include "tools/install/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/text.h"

namespace bulkhead::install {
namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// Opens the folder `path` step by step, so that no part of the path is followed
// as a link. Creates missing folders if `make`. Sets errno if the result is not
// open.
ipc::UniqueFd OpenFolder(int root, std::string_view path, bool make) {
  ipc::UniqueFd at(openat(root, ".", kFolder));
  while (at && !path.empty()) {
    const size_t slash = path.find('/');
    const std::string part(path.substr(0, slash));
    path.remove_prefix(slash == std::string_view::npos ? path.size()
                                                       : slash + 1);
    ipc::UniqueFd next(openat(at.get(), part.c_str(), kFolder));
    if (!next && errno == ENOENT && make) {
      const bool made = mkdirat(at.get(), part.c_str(), 0755) == 0;
      next = ipc::UniqueFd(openat(at.get(), part.c_str(), kFolder));
      // The mode must not depend on the umask: the backend's processes may run
      // as another user and have to read the folder.
      if (made && next && fchmod(next.get(), 0755) != 0) next.reset();
    }
    at = std::move(next);
  }
  return at;
}

std::string LeafOf(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// Opens the parent folder of `path`.
Result<ipc::UniqueFd> OpenParent(int root, const std::string& path, bool make) {
  ipc::UniqueFd parent = OpenFolder(root, ParentOf(path), make);
  if (parent) return parent;
  if (errno == ELOOP || errno == ENOTDIR) {
    return Status(Code::kInvalidArgument,
                  Quoted(path) + ": a parent of this path is not a folder");
  }
  return FromErrno(Quoted(path), errno);
}

// Renames `leaf` in the folder `from` to the same name in `to`. Fails with
// EEXIST instead of replacing a file.
int RenameNoReplace(int from, int to, const std::string& leaf) {
  const int result =
      renameat2(from, leaf.c_str(), to, leaf.c_str(), RENAME_NOREPLACE);
  if (result == 0 || (errno != EINVAL && errno != ENOSYS)) return result;
  // Some file systems, such as NFS, have no RENAME_NOREPLACE. A check before
  // the rename is good enough, since the directory lock keeps other installers
  // out.
  struct stat info;
  if (fstatat(to, leaf.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
    return errno = EEXIST, -1;
  }
  return renameat(from, leaf.c_str(), to, leaf.c_str());
}

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// Removes the file `name` in the folder `parent`, or the folder with all of its
// contents.
Status RemoveRecursively(int parent, const std::string& name) {
  if (unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) {
    return Status();
  }
  if (errno != EISDIR && errno != EPERM) return FromErrno(Quoted(name), errno);
  ipc::UniqueFd fd(openat(parent, name.c_str(), kFolder));
  if (!fd) return FromErrno(Quoted(name), errno);
  std::vector<std::string> names;
  {
    const std::unique_ptr<DIR, CloseFolder> folder(fdopendir(fd.get()));
    if (!folder) return FromErrno(Quoted(name), errno);
    fd.release();  // `folder` owns the descriptor now.
    while (const dirent* entry = readdir(folder.get())) {
      const std::string_view child = entry->d_name;
      if (child != "." && child != "..") names.emplace_back(child);
    }
    for (const std::string& child : names) {
      Status status = RemoveRecursively(dirfd(folder.get()), child);
      if (!status.ok()) return status;
    }
  }
  if (unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0) return Status();
  return FromErrno(Quoted(name), errno);
}

}  // namespace

Status FromErrno(const std::string& what, int error) {
  const bool space = error == ENOSPC || error == EDQUOT || error == EMFILE ||
                     error == ENFILE || error == ENOMEM;
  return Status(space ? Code::kResourceExhausted : Code::kInvalidArgument,
                what + ": " + std::generic_category().message(error));
}

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::optional<Kind> KindAt(int root, const std::string& path) {
  const ipc::UniqueFd parent = OpenFolder(root, ParentOf(path), false);
  struct stat info;
  if (!parent || fstatat(parent.get(), LeafOf(path).c_str(), &info,
                         AT_SYMLINK_NOFOLLOW) != 0) {
    return std::nullopt;
  }
  if (S_ISREG(info.st_mode)) return Kind::kFile;
  if (S_ISDIR(info.st_mode)) return Kind::kFolder;
  return S_ISLNK(info.st_mode) ? Kind::kLink : Kind::kOther;
}

Result<ipc::UniqueFd> MakeFolder(int root, const std::string& path) {
  ipc::UniqueFd fd = OpenFolder(root, path, true);
  if (!fd) return FromErrno(Quoted(path), errno);
  return fd;
}

Result<ipc::UniqueFd> CreateFile(int root, const std::string& path,
                                 uint32_t mode) {
  Result<ipc::UniqueFd> parent = OpenParent(root, path, true);
  if (!parent) return parent.error();
  ipc::UniqueFd fd(openat(parent->get(), LeafOf(path).c_str(),
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          0600));
  if (!fd || fchmod(fd.get(), mode) != 0) {
    return FromErrno(Quoted(path), errno);
  }
  return fd;
}

Status WriteAll(int fd, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FromErrno("cannot write", errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return Status();
}

Status WriteFile(int root, const std::string& path, const std::string& bytes,
                 uint32_t mode) {
  const Result<ipc::UniqueFd> fd = CreateFile(root, path, mode);
  if (!fd) return fd.error();
  return WriteAll(fd->get(), bytes).WithContext(Quoted(path));
}

Status Move(int from, int to, const std::string& path) {
  const Result<ipc::UniqueFd> source = OpenParent(from, path, false);
  if (!source) return source.error();
  const Result<ipc::UniqueFd> target = OpenParent(to, path, true);
  if (!target) return target.error();
  if (RenameNoReplace(source->get(), target->get(), LeafOf(path)) == 0) {
    return Status();
  }
  return FromErrno("cannot move " + Quoted(path), errno);
}

Status RemoveTree(int root, const std::string& path) {
  const Result<ipc::UniqueFd> parent = OpenParent(root, path, false);
  if (!parent) return parent.error();
  return RemoveRecursively(parent->get(), LeafOf(path));
}

void RemoveEmptyFolder(int root, const std::string& path) {
  const ipc::UniqueFd parent = OpenFolder(root, ParentOf(path), false);
  if (parent) unlinkat(parent.get(), LeafOf(path).c_str(), AT_REMOVEDIR);
}

void RemoveEmptyParents(int root, const std::string& path) {
  for (std::string folder = ParentOf(path); !folder.empty();
       folder = ParentOf(folder)) {
    const ipc::UniqueFd parent = OpenFolder(root, ParentOf(folder), false);
    if (!parent ||
        unlinkat(parent.get(), LeafOf(folder).c_str(), AT_REMOVEDIR) != 0) {
      return;
    }
  }
}

}  // namespace bulkhead::install
