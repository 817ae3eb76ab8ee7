// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/task_limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/base/pidfd.h"
#include "core/supervisor/sandbox/mount_info.h"
#include "core/supervisor/sandbox/read_text.h"

namespace bulkhead::sandbox {
namespace {

constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

// The tasks that a backend needs. A decoder starts at most 64 threads unless it
// is asked for more.
constexpr uint64_t kLeast = 256;

// Returns whether so little room is left below the limit `most` that an honest
// decoder may fail to start its threads: less than 128 tasks, or less than half
// of a smaller limit.
bool IsUsedUp(uint64_t now, uint64_t most) {
  constexpr uint64_t kRoom = 128;
  return most != kNoLimit && now + std::min(kRoom, most / 2) > most;
}

// A cgroup of this process in the hierarchy that counts tasks.
struct Member {
  bool version_2;
  std::string path;  // within the hierarchy
};

// Parses /proc/self/cgroup, with lines such as "8:pids:/a/b" and "0::/a/b".
std::vector<Member> MembersIn(const std::string& cgroups) {
  std::vector<Member> members;
  std::istringstream lines(cgroups);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string id, controllers, path;
    std::getline(fields, id, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, path);
    const bool version_2 = id == "0" && controllers.empty();
    if (version_2 || HasWord(controllers, "pids")) {
      members.push_back({version_2, path});
    }
  }
  return members;
}

// Returns the directories of the member's cgroup and of the cgroups above it,
// as far as this process sees them.
std::vector<std::string> DirectoriesOf(const Member& member,
                                       const std::vector<MountInfo>& mounts) {
  for (const MountInfo& mount : mounts) {
    if (member.version_2
            ? mount.type != "cgroup2"
            : mount.type != "cgroup" || !HasWord(mount.options, "pids")) {
      continue;
    }
    // Cgroups above the mount's root are not visible.
    std::string below = member.path;
    if (mount.root != "/") {
      below =
          below.starts_with(mount.root) ? below.substr(mount.root.size()) : "";
    }
    std::vector<std::string> directories;
    for (;;) {
      directories.push_back(mount.point + below);
      const size_t slash = below.rfind('/');
      if (slash == std::string::npos) return directories;
      below.resize(slash);
    }
  }
  return {};
}

}  // namespace

TaskLimits::TaskLimits(std::string root) : root_(std::move(root)) {
  const auto mounts = ParseMountInfo(Text("/proc/self/mountinfo"));
  for (const Member& member : MembersIn(Text("/proc/self/cgroup"))) {
    for (std::string& directory : DirectoriesOf(member, mounts)) {
      if (!Text(directory + "/pids.max").empty()) {
        cgroups_.push_back(std::move(directory));
      }
    }
  }
}

std::string TaskLimits::Text(const std::string& path) const {
  return ReadText(root_ + path).value_or("");
}

uint64_t TaskLimits::Number(const std::string& path) const {
  uint64_t number = 0;
  std::istringstream text(Text(path));
  return text >> number ? number : kNoLimit;
}

uint64_t TaskLimits::LimitOfUser() {
  rlimit limit = {};
  // The hard limit decides, since bulkheadd and the launch raise the soft one.
  if (geteuid() == 0 || getrlimit(RLIMIT_NPROC, &limit) != 0 ||
      limit.rlim_max == RLIM_INFINITY) {
    return kNoLimit;
  }
  return limit.rlim_max;
}

uint64_t TaskLimits::LimitOfKernel() const {
  return std::min(Number("/proc/sys/kernel/threads-max"),
                  Number("/proc/sys/kernel/pid_max"));
}

uint64_t TaskLimits::TasksOfMachine() const {
  // "0.20 0.18 0.12 1/80 11206": 80 tasks, of which one runs.
  const std::string text = Text("/proc/loadavg");
  const size_t slash = text.find('/');
  uint64_t tasks = 0;
  if (slash != std::string::npos) {
    std::istringstream(text.substr(slash + 1)) >> tasks;
  }
  return tasks;
}

uint64_t TaskLimits::TasksOfUser() const {
  uint64_t tasks = 0;
  std::error_code error;
  std::filesystem::directory_iterator entry(root_ + "/proc", error);
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    // LineOf() reads whole lines, since a process may be called "Uid: 7".
    std::istringstream status(Text("/proc/" + name + "/status"));
    uint64_t user = kNoLimit;
    uint64_t threads = 0;
    std::istringstream(LineOf(status, "Uid:")) >> user;
    std::istringstream(LineOf(status, "Threads:")) >> threads;
    if (user == getuid()) tasks += threads;
  }
  return tasks;
}

uint64_t TaskLimits::ForOneBackend() const {
  uint64_t lowest = std::min(LimitOfUser(), LimitOfKernel());
  for (const std::string& cgroup : cgroups_) {
    lowest = std::min(lowest, Number(cgroup + "/pids.max"));
  }
  return std::max(kLeast, lowest / 2);
}

uint64_t TaskLimits::Refusals() const {
  uint64_t refusals = 0;
  for (const std::string& cgroup : cgroups_) {
    // pids.events.local counts the refusals of this cgroup only. Since Linux
    // 6.11, pids.events also counts those of the cgroups below, such as a
    // backend at the limit of its own cgroup, which excuses no failure.
    std::string text = Text(cgroup + "/pids.events.local");
    if (text.empty()) text = Text(cgroup + "/pids.events");
    std::istringstream events(text);
    std::string name;
    for (uint64_t count = 0; events >> name >> count;) {
      if (name == "max") refusals += count;
    }
  }
  return refusals;
}

bool TaskLimits::WereUsedUp(uint64_t before) const {
  for (const std::string& cgroup : cgroups_) {
    if (IsUsedUp(Number(cgroup + "/pids.current"),
                 Number(cgroup + "/pids.max"))) {
      return true;
    }
  }
  const uint64_t of_machine = TasksOfMachine();
  // Without a user namespace, workers may use only three quarters of the user's
  // limit (backends/worker/lockdown).
  const uint64_t of_user =
      LimitOfUser() == kNoLimit ? kNoLimit : LimitOfUser() - LimitOfUser() / 4;
  // TasksOfUser() is slow, so it is called only if the user could be near the
  // limit.
  return Refusals() != before || IsUsedUp(of_machine, LimitOfKernel()) ||
         (IsUsedUp(of_machine, of_user) && IsUsedUp(TasksOfUser(), of_user));
}

}  // namespace bulkhead::sandbox
