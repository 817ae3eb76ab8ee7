// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/catalog/remote_places.h"

#include <linux/close_range.h>
#include <mntent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

namespace bulkhead::supervisor {
namespace {

constexpr int kPatienceMs = 2'000;
// For the end of a child that was killed, unless the kernel holds it.
constexpr int kEndMs = 50;

// The first letters of each, such as of fuseblk and fuse.sshfs.
constexpr auto kRemote = std::to_array<std::string_view>(
    {"fuse", "nfs", "cifs", "smb", "9p", "ceph", "afs", "autofs", "lustre",
     "gluster", "gpfs", "beegfs", "orangefs", "virtiofs"});

bool IsAtOrBelow(const std::string& path, std::string_view directory) {
  if (directory == "/") return true;
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

// Returns whether the child has ended within the time, and reaps it.
bool Ended(const ipc::UniqueFd& child, int milliseconds) {
  pollfd end = {.fd = child.get(), .events = POLLIN, .revents = 0};
  if (::poll(&end, 1, milliseconds) <= 0) return false;
  ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(child.get()),
           nullptr, WEXITED | __WALL);
  return true;
}

void Kill(const ipc::UniqueFd& child) {
  ::syscall(SYS_pidfd_send_signal, child.get(), SIGKILL, nullptr, 0);
}

[[noreturn]] void ReadAndEnd(const std::function<void()>& read) {
  // A child that is stuck outlives everybody. It must keep no socket open, and
  // nobody waiting for the end of a pipe.
  ::syscall(SYS_close_range, 0U, ~0U, 0U);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  read();
  _exit(0);
}

}  // namespace

bool RemotePlaces::IsRemote(const std::string& directory) {
  const std::unique_ptr<FILE, int (*)(FILE*)> mounts(
      ::setmntent("/proc/self/mounts", "re"), ::endmntent);
  std::string point;
  bool remote = false;
  while (const mntent* const mount =
             mounts ? ::getmntent(mounts.get()) : nullptr) {
    // Of those at one place the last one is seen.
    if (!IsAtOrBelow(directory, mount->mnt_dir) ||
        std::string_view(mount->mnt_dir).size() < point.size()) {
      continue;
    }
    point = mount->mnt_dir;
    remote = std::ranges::any_of(kRemote, [&](std::string_view type) {
      return std::string_view(mount->mnt_type).starts_with(type);
    });
  }
  return remote;
}

RemotePlaces::~RemotePlaces() {
  for (const auto& [directory, child] : stuck_) Kill(child);
}

bool RemotePlaces::Answers(const std::string& directory,
                           const std::function<void()>& read) {
  if (!is_remote_(directory)) return true;
  if (const auto stuck = stuck_.find(directory); stuck != stuck_.end()) {
    if (!Ended(stuck->second, 0)) return false;
    stuck_.erase(stuck);
  }
  const pid_t pid = ::fork();
  if (pid == 0) ReadAndEnd(read);
  // Without a process nobody can tell, and a search that is refused would be as
  // bad as one that is late.
  if (pid < 0) return true;
  ipc::UniqueFd child(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!child) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return true;
  }
  if (Ended(child, kPatienceMs)) return true;
  Kill(child);
  if (!Ended(child, kEndMs)) stuck_.emplace(directory, std::move(child));
  return false;
}

}  // namespace bulkhead::supervisor
