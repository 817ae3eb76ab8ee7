// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/new_root.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "core/base/status_macros.h"
#include "core/supervisor/sandbox/errno_status.h"
#include "core/supervisor/sandbox/granted_paths.h"

namespace bulkhead::sandbox {
namespace {

using Kind = VisiblePath::Kind;

// The mount point of the new root. Any existing directory is possible, since
// only this process sees the mount; /proc is known to exist.
constexpr char kScratch[] = "/proc";
// The memory that mount points and the directories above them may take.
constexpr off_t kMostDirectoryBytes = off_t{1} << 20;

Status Failed(const std::string& what) { return SandboxStepFailed(what); }

Status MakeParents(const std::string& relative) {
  for (size_t slash = relative.find('/'); slash != std::string::npos;
       slash = relative.find('/', slash + 1)) {
    const std::string parent = relative.substr(0, slash);
    if (mkdir(parent.c_str(), 0755) != 0 && errno != EEXIST) {
      return Failed("cannot make /" + parent + " in the new root");
    }
  }
  return Status();
}

// Makes a mount read-only. `devices` is MOUNT_ATTR_NODEV, or another attribute
// if the mount shows a device that the backend may open.
Status MakeReadOnly(int mount, const char* path, unsigned flags,
                    const std::string& what,
                    uint64_t devices = MOUNT_ATTR_NODEV) {
  mount_attr attributes = {};
  attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | devices;
  if (mount_setattr(mount, path, flags, &attributes, sizeof(attributes)) != 0) {
    return Failed("cannot make " + what + " read-only");
  }
  return Status();
}

off_t BytesOf(int contents) {
  struct stat info = {};
  return contents >= 0 && fstat(contents, &info) == 0 ? info.st_size : 0;
}

// Copies the contents to a file in the tmpfs, which is made read-only later.
Status MakeCopy(const VisiblePath& visible, const std::string& relative) {
  const ipc::UniqueFd copy(
      open(relative.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444));
  const std::string what = "cannot copy " + visible.path + " to the new root";
  if (!copy) return Failed(what);
  const off_t bytes = BytesOf(visible.contents);
  // `at` replaces the descriptor's own offset, which other launches share.
  for (off_t at = 0; at < bytes;) {
    if (sendfile(copy.get(), visible.contents, &at,
                 static_cast<size_t>(bytes - at)) <= 0) {
      return Failed(what);
    }
  }
  return Status();
}

// Adds one path to the new root, which is the working directory.
Status Attach(const VisiblePath& visible, const ipc::UniqueFd& mount) {
  const std::string relative = visible.path.substr(1);
  RETURN_IF_ERROR(MakeParents(relative));
  if (visible.contents >= 0) return MakeCopy(visible, relative);
  if (visible.kind == Kind::kSymlink) {
    if (symlink(visible.target.c_str(), relative.c_str()) != 0) {
      return Failed("cannot link " + visible.path + " in the new root");
    }
    return Status();
  }
  const int made = visible.kind == Kind::kTree
                       ? mkdir(relative.c_str(), 0755)
                       : mknod(relative.c_str(), S_IFREG | 0444, 0);
  if (made != 0 && errno != EEXIST) {
    return Failed("cannot make " + visible.path + " in the new root");
  }
  // A read-only mount protects a device's node, its mode and its times, but
  // permits writing to the device.
  RETURN_IF_ERROR(MakeReadOnly(
      mount.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, visible.path,
      visible.kind == Kind::kDevice ? MOUNT_ATTR_NOEXEC : MOUNT_ATTR_NODEV));
  if (move_mount(mount.get(), "", AT_FDCWD, relative.c_str(),
                 MOVE_MOUNT_F_EMPTY_PATH) != 0) {
    return Failed("cannot mount " + visible.path + " in the new root");
  }
  return Status();
}

// Returns a detached bind mount of a file or directory.
Result<ipc::UniqueFd> OpenTree(int directory, const char* path, unsigned flags,
                               const std::string& what) {
  ipc::UniqueFd copy(
      open_tree(directory, path,
                OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | flags));
  if (!copy) return Failed("cannot open " + what + " for the sandbox");
  return copy;
}

// Opens the object that the policy identifies. Links in the directories above
// are followed: wherever they lead, the identity has to match.
Result<ipc::UniqueFd> OpenSame(const VisiblePath& visible) {
  const ipc::UniqueFd object(
      open(visible.path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!object) return Failed("cannot open " + visible.path);
  // Compared after opening and mounted from this descriptor, so that the object
  // cannot be exchanged in between.
  if (IdentityOf(object.get()) != *visible.identity) {
    return Status(Code::kSandboxUnavailable,
                  visible.path +
                      " was replaced while the backend was being started; try "
                      "again");
  }
  return OpenTree(object.get(), "", AT_EMPTY_PATH, visible.path);
}

}  // namespace

Result<std::vector<ipc::UniqueFd>> OpenVisible(
    const std::vector<VisiblePath>& visible) {
  // Without this, mounts of this process would appear outside.
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return Failed("cannot make the mounts private");
  }
  std::vector<ipc::UniqueFd> mounts;
  for (const VisiblePath& path : visible) {
    ipc::UniqueFd copy;
    // OpenTree() includes the mounts below a directory: without them, files
    // that they hide would appear, which the kernel forbids in a user
    // namespace. AT_SYMLINK_NOFOLLOW, because a file that became a link after
    // the policy was made must not show the link's target.
    if (path.contents >= 0) {
      // Nothing to mount.
    } else if (path.identity) {
      ASSIGN_OR_RETURN(copy, OpenSame(path));
    } else if (path.kind != Kind::kSymlink) {
      ASSIGN_OR_RETURN(copy, OpenTree(AT_FDCWD, path.path.c_str(),
                                      AT_SYMLINK_NOFOLLOW, path.path));
    }
    mounts.push_back(std::move(copy));
  }
  return mounts;
}

Status EnterNewRoot(const std::vector<VisiblePath>& visible,
                    const std::vector<ipc::UniqueFd>& mounts) {
  off_t bytes = kMostDirectoryBytes;
  for (const VisiblePath& path : visible) bytes += BytesOf(path.contents);
  const std::string options = "mode=0755,size=" + std::to_string(bytes);
  if (mount("bulkhead", kScratch, "tmpfs", MS_NOSUID | MS_NODEV,
            options.c_str()) != 0) {
    return Failed("cannot mount a tmpfs in the new namespaces");
  }
  if (chdir(kScratch) != 0) return Failed("cannot enter the new tmpfs");
  // Makes directories readable for all, whatever the umask of bulkheadd is.
  umask(0022);
  for (size_t i = 0; i < visible.size(); ++i) {
    RETURN_IF_ERROR(Attach(visible[i], mounts[i]));
  }
  // Makes this directory the root and mounts the old root over it. The next
  // call detaches the old root.
  if (syscall(SYS_pivot_root, ".", ".") != 0) {
    return Failed("cannot change to the new root");
  }
  if (umount2(".", MNT_DETACH) != 0) return Failed("cannot leave the old root");
  if (chdir("/") != 0) return Failed("cannot enter the new root");
  // Comes last, because the mount points had to be made in the root.
  return MakeReadOnly(AT_FDCWD, "/", 0, "the new root");
}

}  // namespace bulkhead::sandbox
