// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <list>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/base/status_macros.h"
#include "core/supervisor/sandbox/errno_status.h"
#include "core/supervisor/sandbox/mount_info.h"
#include "core/supervisor/sandbox/read_text.h"
#include "ipc/deadline.h"

namespace bulkhead::sandbox {
namespace {

constexpr const char* kControllers[] = {"memory", "pids", "cpu"};
constexpr char kPrefix[] = "bulkhead-";
// The longest time for which RemoveStaleCgroups() waits in all, and the pause
// between two looks.
constexpr std::chrono::milliseconds kEndPatience{200};
constexpr int kLookMs = 5;

bool Contains(const std::string& words, const std::string& word) {
  std::istringstream list(words);
  for (std::string entry; list >> entry;) {
    if (entry == word) return true;
  }
  return false;
}

Status Write(const std::string& path, const std::string& text) {
  const ipc::UniqueFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file || write(file.get(), text.data(), text.size()) < 0) {
    return ErrnoStatus(Code::kSandboxUnavailable,
                       "cannot write " + text + " to " + path);
  }
  return Status();
}

// Returns 17 for a line "key 17" in a file of such lines, 0 without the line.
uint64_t Count(const std::string& directory, const char* file,
               const std::string& key) {
  std::istringstream words(
      ReadText(directory + "/" + file).value_or(std::string()));
  std::string name;
  for (uint64_t value; words >> name >> value;) {
    if (name == key) return value;
  }
  return 0;
}

// Returns the path of this process' cgroup in the hierarchy of version 2, from
// the line "0::/user.slice/...".
std::optional<std::string> OwnPath(const std::string& cgroups) {
  std::istringstream lines(cgroups);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::/")) return line.substr(3);
  }
  return std::nullopt;
}

// systemd marks delegated cgroups with an extended attribute. Without it, a
// directory that belongs to this user is taken as delegated. That rule is not
// for root, to whom every directory belongs.
bool IsDelegated(const std::string& directory) {
  for (const char* name : {"trusted.delegate", "user.delegate"}) {
    char value = 0;
    if (getxattr(directory.c_str(), name, &value, 1) == 1 && value == '1') {
      return true;
    }
  }
  struct stat status = {};
  return geteuid() != 0 && stat(directory.c_str(), &status) == 0 &&
         status.st_uid == geteuid();
}

void EnableControllers(const std::string& directory) {
  // Writes one at a time: the kernel refuses a whole list for one entry.
  for (const char* controller : kControllers) {
    // LookAtControllers() finds out later which of these were accepted.
    (void)Write(directory + "/cgroup.subtree_control",
                std::string("+") + controller);
  }
}

void Append(std::string& list, const std::string& separator,
            const std::string& entry) {
  list += (list.empty() ? "" : separator) + entry;
}

// Sets parent.controllers to those that are in force in the directory, and
// parent.evidence to why the others are missing.
void LookAtControllers(const std::string& directory, CgroupParent& parent) {
  const std::string enabled =
      ReadText(directory + "/cgroup.subtree_control").value_or("");
  const std::string available =
      ReadText(directory + "/cgroup.controllers").value_or("");
  parent.controllers.clear();
  std::string off;
  std::string absent;
  for (const char* controller : kControllers) {
    if (Contains(enabled, controller)) {
      parent.controllers.push_back(controller);
    } else {
      Append(Contains(available, controller) ? off : absent, ", ", controller);
    }
  }
  parent.evidence.clear();
  if (!off.empty()) {
    parent.evidence = "not in " + directory + "/cgroup.subtree_control: " + off;
  }
  if (!absent.empty()) {
    Append(parent.evidence, "; ",
           "not in " + directory + "/cgroup.controllers: " + absent +
               "; the directory above does not pass it on, or version 1 has "
               "it");
  }
}

// Returns a lock on the directory, or an invalid descriptor if a living
// bulkheadd has the lock. The kernel releases it when the owner ends.
ipc::UniqueFd LockIfFree(const std::string& directory) {
  ipc::UniqueFd lock(
      open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock && flock(lock.get(), LOCK_EX | LOCK_NB) != 0) lock.reset();
  return lock;
}

}  // namespace

bool CgroupParent::Has(const std::string& controller) const {
  return std::find(controllers.begin(), controllers.end(), controller) !=
         controllers.end();
}

CgroupParent FindCgroupParent(const std::string& named,
                              const std::string& root) {
  CgroupParent parent;
  const auto mounts =
      ParseMountInfo(ReadText(root + "/proc/self/mountinfo").value_or(""));
  const auto mount = std::ranges::find(mounts, "cgroup2", &MountInfo::type);
  const bool mounted = mount != mounts.end();
  if (mounted) {
    parent.mount = mount->point;
    parent.writable = access((root + mount->point).c_str(), W_OK) == 0;
  }
  if (!named.empty()) {
    const std::string directory = root + named;
    if (!ReadText(directory + "/cgroup.subtree_control")) {
      parent.evidence =
          named +
          ", which BULKHEAD_CGROUP or the option cgroup names, is not "
          "a directory of cgroup version 2";
      return parent;
    }
    // Only in a directory that the operator has named: elsewhere, switching on
    // controllers could take limits away from other processes.
    EnableControllers(directory);
    LookAtControllers(directory, parent);
    parent.directory = directory;
    return parent;
  }
  const auto own = OwnPath(ReadText(root + "/proc/self/cgroup").value_or(""));
  if (!mounted || !own) {
    parent.evidence =
        "cgroup version 2 is not mounted: /proc/self/mountinfo has no cgroup2";
    return parent;
  }
  // The mount shows only the part of the hierarchy below mount->root, so the
  // path in the mount is the cgroup's path without mount->root.
  const std::string above = mount->root == "/" ? "" : mount->root;
  if (!own->starts_with(above)) {
    parent.evidence = "this process' cgroup, " + *own +
                      ", is not visible below " + mount->point;
    return parent;
  }
  std::string below = own->substr(above.size());
  if (below == "/") below.clear();
  // Tries this process' own cgroup, then the one above it.
  for (int level = 0; level < 2; ++level) {
    const std::string directory = root + mount->point + below;
    if (IsDelegated(directory)) {
      LookAtControllers(directory, parent);
      if (parent.Has("memory") || parent.Has("pids")) {
        // Without one of these two, a cgroup would limit nothing that matters.
        parent.directory = directory;
        return parent;
      }
    }
    if (below.empty()) break;
    below.resize(below.rfind('/'));
  }
  const std::string none =
      "neither this process' cgroup, " + *own +
      ", nor the one above it is delegated to this user with limits switched "
      "on for its children";
  parent.evidence =
      none + (parent.evidence.empty() ? "" : " (" + parent.evidence + ")");
  parent.controllers.clear();
  return parent;
}

void RemoveStaleCgroups(const CgroupParent& parent) {
  std::error_code ignored;
  // Collected first, since removing entries disturbs a directory iteration.
  std::list<Cgroup> stale;
  for (const auto& entry :
       std::filesystem::directory_iterator(parent.directory, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    if (ipc::UniqueFd lock = LockIfFree(entry.path())) {
      stale.emplace_back(entry.path(), std::move(lock));
    }
  }
  const auto end = ipc::Deadline::After(kEndPatience);
  for (;;) {
    stale.remove_if([](const Cgroup& cgroup) { return cgroup.Remove(); });
    if (stale.empty() || end.passed()) return;
    poll(nullptr, 0, kLookMs);
  }
}

Status WriteCgroupLimits(const std::string& directory,
                         const CgroupParent& parent, const Limits& limits) {
  if (parent.Has("memory")) {
    RETURN_IF_ERROR(
        Write(directory + "/memory.max", std::to_string(limits.memory_bytes)));
    const std::string swap = directory + "/memory.swap.max";
    // The file is absent if the kernel does not count swap.
    if (access(swap.c_str(), F_OK) == 0) RETURN_IF_ERROR(Write(swap, "0"));
  }
  if (parent.Has("pids")) {
    RETURN_IF_ERROR(
        Write(directory + "/pids.max", std::to_string(limits.tasks)));
  }
  return Status();
}

Result<std::unique_ptr<Cgroup>> Cgroup::Create(const CgroupParent& parent,
                                               const Limits& limits) {
  // Several attempts: between mkdtemp() and the lock, another bulkheadd may
  // take the new directory for a stale one and remove it.
  constexpr int kAttempts = 3;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string directory = parent.directory + "/" + kPrefix + "XXXXXX";
    if (mkdtemp(directory.data()) == nullptr) {
      return ErrnoStatus(Code::kSandboxUnavailable,
                         "cannot make a cgroup in " + parent.directory);
    }
    ipc::UniqueFd lock = LockIfFree(directory);
    if (!lock || access(directory.c_str(), F_OK) != 0) continue;
    // From here on the destructor removes the directory, also after a failure.
    auto cgroup = std::make_unique<Cgroup>(directory, std::move(lock));
    RETURN_IF_ERROR(WriteCgroupLimits(directory, parent, limits));
    return cgroup;
  }
  return Status(Code::kSandboxUnavailable,
                "other processes remove the cgroups that are made in " +
                    parent.directory);
}

bool Cgroup::Remove() const {
  // Needs Linux 5.14. On older kernels only the reaper ends the processes.
  (void)Write(directory_ + "/cgroup.kill", "1");
  return rmdir(directory_.c_str()) == 0 || errno == ENOENT;
}

Status Cgroup::Adopt(pid_t pid) const {
  return Write(directory_ + "/cgroup.procs", std::to_string(pid));
}

bool Cgroup::TakeOutOfMemoryKill() {
  if (Count(directory_, "memory.events", "oom_kill") <= kills_reported_) {
    return false;
  }
  ++kills_reported_;
  // `oom` counts how often memory ran out at this cgroup's own limit. If it is
  // 0, the whole machine was out of memory, and the kernel chose this process.
  return Count(directory_, "memory.events", "oom") > 0;
}

}  // namespace bulkhead::sandbox
