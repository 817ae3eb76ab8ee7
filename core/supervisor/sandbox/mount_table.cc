// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/mount_table.h"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/supervisor/sandbox/read_text.h"

namespace bulkhead::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // the kernel's limit

// The beginnings of the types' names; "fuse" stands for fuseblk, fuse.sshfs.
constexpr auto kRemote = std::to_array<std::string_view>(
    {"fuse", "nfs", "cifs", "smb", "9p", "ceph", "afs", "autofs", "lustre",
     "gluster", "gpfs", "beegfs", "orangefs", "virtiofs"});

bool IsRemoteType(std::string_view type) {
  return std::ranges::any_of(kRemote, [type](std::string_view start) {
    return type.starts_with(start);
  });
}

bool IsAtOrBelow(std::string_view path, std::string_view directory) {
  if (directory == "/") return true;
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

}  // namespace

void MountTable::Refresh() {
  if (!changes_) {
    changes_ =
        ipc::UniqueFd(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  }
  pollfd changed = {.fd = changes_.get(), .events = POLLPRI, .revents = 0};
  // Polled before the table is read, so that no change is missed.
  const bool same = changes_ && ::poll(&changed, 1, 0) == 0;
  if (same && !mounts_.empty()) return;
  mounts_ = ParseMountInfo(ReadText("/proc/self/mountinfo").value_or(""));
}

bool MountTable::LiesOnRemote(const std::string& path) const {
  const MountInfo* last = nullptr;
  for (const MountInfo& mount : mounts_) {
    // Of several mounts at one place, the last one hides the others.
    if (IsAtOrBelow(path, mount.point) &&
        (last == nullptr || mount.point.size() >= last->point.size())) {
      last = &mount;
    }
  }
  return last != nullptr && IsRemoteType(last->type);
}

bool MountTable::IsRemote(uint64_t device) {
  Refresh();
  return std::ranges::any_of(mounts_, [device](const MountInfo& mount) {
    return mount.device == device && IsRemoteType(mount.type);
  });
}

bool MountTable::IsRemote(const std::string& path) {
  Refresh();
  // Follows the path part by part, as the kernel does, and stops before the
  // first part on a remote file system.
  const fs::path whole = path;
  std::deque<fs::path> left(whole.begin(), whole.end());
  fs::path at = "/";
  int links = 0;
  while (!left.empty()) {
    at = (at / left.front()).lexically_normal();
    left.pop_front();
    if (LiesOnRemote(at.string())) return true;
    std::error_code none;
    const fs::path to = fs::read_symlink(at, none);
    if (none) continue;
    if (++links > kMostLinks) return false;  // The kernel refuses to open it.
    left.insert(left.begin(), to.begin(), to.end());
    at = at.parent_path();
  }
  return false;
}

}  // namespace bulkhead::sandbox
