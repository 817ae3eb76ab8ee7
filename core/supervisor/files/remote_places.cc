// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/files/remote_places.h"

#include <fcntl.h>
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
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/pidfd.h"

namespace bulkhead::supervisor {
namespace {

namespace fs = std::filesystem;

constexpr auto kPatience = 2 * kj::SECONDS;
constexpr int kMostRounds = 30;  // of kPatience
constexpr auto kSilence = 5 * kj::SECONDS;
constexpr int kMostLinks = 40;  // as the kernel's

// The first letters of each, such as of fuseblk and fuse.sshfs.
constexpr auto kRemote = std::to_array<std::string_view>(
    {"fuse", "nfs", "cifs", "smb", "9p", "ceph", "afs", "autofs", "lustre",
     "gluster", "gpfs", "beegfs", "orangefs", "virtiofs"});

struct Mount {
  std::string point;
  bool remote;
};

std::vector<Mount> Mounts() {
  const std::unique_ptr<FILE, int (*)(FILE*)> table(
      ::setmntent("/proc/self/mounts", "re"), ::endmntent);
  std::vector<Mount> mounts;
  while (const mntent* const mount =
             table ? ::getmntent(table.get()) : nullptr) {
    const std::string_view type = mount->mnt_type;
    mounts.push_back(
        {.point = mount->mnt_dir,
         .remote = std::ranges::any_of(kRemote, [type](std::string_view start) {
           return type.starts_with(start);
         })});
  }
  return mounts;
}

bool IsAtOrBelow(std::string_view path, std::string_view directory) {
  if (directory == "/") return true;
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

// The mounts of this process, read again once they have changed: a machine of
// containers has thousands.
class MountTable {
 public:
  // Returns whether another program or machine serves `path`, which is
  // absolute.
  bool IsRemote(const std::string& path);

 private:
  void Refresh();
  bool LiesOnRemote(const std::string& path) const;

  const ipc::UniqueFd changes_{
      ::open("/proc/self/mounts", O_RDONLY | O_CLOEXEC)};
  std::vector<Mount> mounts_;
};

void MountTable::Refresh() {
  pollfd changed = {.fd = changes_.get(), .events = POLLPRI, .revents = 0};
  // Before the table is read, so that no change is missed.
  const bool same = changes_ && ::poll(&changed, 1, 0) == 0;
  if (!same || mounts_.empty()) mounts_ = Mounts();
}

bool MountTable::LiesOnRemote(const std::string& path) const {
  const Mount* last = nullptr;
  for (const Mount& mount : mounts_) {
    // Of those at one place the last one is seen.
    if (IsAtOrBelow(path, mount.point) &&
        (last == nullptr || mount.point.size() >= last->point.size())) {
      last = &mount;
    }
  }
  return last != nullptr && last->remote;
}

bool MountTable::IsRemote(const std::string& path) {
  Refresh();
  // In the order in which the kernel looks them up, so that a link is read only
  // where this machine answers.
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
    if (++links > kMostLinks) return false;  // nobody can open it
    left.insert(left.begin(), to.begin(), to.end());
    at = at.parent_path();
  }
  return false;
}

// Returns how often the process has waited for anything, such as an answer; 0
// if it has ended.
uint64_t Switches(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  uint64_t switches = 0;
  std::istringstream(LineOf(status, "voluntary_ctxt_switches:")) >> switches;
  return switches;
}

void Reap(const ipc::UniqueFd& child) {
  ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(child.get()),
           nullptr, WEXITED | __WALL);
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

RemotePlaces::RemotePlaces(kj::UnixEventPort& port)
    : RemotePlaces(port, [table = std::make_shared<MountTable>()](
                             const std::string& path) {
        return table->IsRemote(path);
      }) {}

RemotePlaces::RemotePlaces(kj::UnixEventPort& port,
                           std::function<bool(const std::string&)> is_remote)
    : port_(port), is_remote_(std::move(is_remote)), stuck_(*this) {}

RemotePlaces::~RemotePlaces() noexcept(false) {
  for (const auto& [path, place] : places_) {
    if (place.child) Kill(place.child);
  }
}

kj::Promise<bool> RemotePlaces::Ask(const std::string& path,
                                    const std::function<void()>& read) {
  if (!is_remote_(path)) return true;
  Place& place = places_[path];
  KJ_IF_MAYBE (question, place.under_way) {
    return question->addBranch();
  }
  if (place.child || port_.getTimer().now() < place.ask_again) return false;
  place.pid = ::fork();
  if (place.pid == 0) ReadAndEnd(read);
  // Without a process nobody can tell, and a search that is refused would be as
  // bad as one that is late.
  place.answered = true;
  if (place.pid < 0) return true;
  place.child =
      ipc::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, place.pid, 0)));
  if (!place.child) {
    ::kill(place.pid, SIGKILL);
    ::waitpid(place.pid, nullptr, 0);
    return true;
  }
  place.end.emplace(port_, place.child.get(),
                    kj::UnixEventPort::FdObserver::OBSERVE_READ);
  auto question = AwaitAnswer(place).fork();
  auto branch = question.addBranch();
  place.under_way = kj::mv(question);
  return branch;
}

bool RemotePlaces::Answered(const std::string& path) const {
  if (!is_remote_(path)) return true;
  const auto place = places_.find(path);
  return place != places_.end() && place->second.answered;
}

kj::Promise<bool> RemotePlaces::AwaitAnswer(Place& place) {
  place.answered = false;
  return place.end->whenBecomesReadable()
      .then([] { return true; })
      .exclusiveJoin(AwaitSilence(place, Switches(place.pid), kMostRounds))
      .then([this, &place](bool ended) {
        place.answered = ended;
        if (ended) {
          Reap(place.child);
          place.end.reset();
          place.child.reset();
        } else {
          LeaveBehind(place);
        }
        // Not at once: that would destroy what runs.
        stuck_.add(kj::evalLater([&place] { place.under_way = nullptr; }));
        return ended;
      })
      .eagerlyEvaluate(nullptr);
}

kj::Promise<bool> RemotePlaces::AwaitSilence(const Place& place,
                                             uint64_t switches,
                                             int rounds_left) {
  return port_.getTimer().afterDelay(kPatience).then(
      [this, &place, switches, rounds_left]() -> kj::Promise<bool> {
        const uint64_t now = Switches(place.pid);
        if (now == switches || rounds_left == 0) return false;
        return AwaitSilence(place, now, rounds_left - 1);
      });
}

void RemotePlaces::LeaveBehind(Place& place) {
  place.ask_again = port_.getTimer().now() + kSilence;
  Kill(place.child);
  stuck_.add(place.end->whenBecomesReadable().then([&place] {
    Reap(place.child);
    place.end.reset();
    place.child.reset();
  }));
}

void RemotePlaces::taskFailed(kj::Exception&&) {
  // Only kj throws here, for lack of memory. The path is not asked again.
}

}  // namespace bulkhead::supervisor
