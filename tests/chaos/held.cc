// SPDX-License-Identifier: Apache-2.0
#include "tests/chaos/held.h"

#include <dirent.h>
#include <sys/syscall.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "tests/support/process_watch.h"

namespace bulkhead::tests {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Between two looks.
constexpr milliseconds kPause{1};

std::string ProcFile(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

// 0: it is gone.
pid_t ParentOf(pid_t pid) {
  std::ifstream stat(ProcFile(pid, "stat"));
  std::string text;
  std::getline(stat, text);
  // The name before it may hold anything.
  const size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos) return 0;
  // "S 1234 ..."
  return static_cast<pid_t>(std::atoi(text.c_str() + name_end + 4));
}

}  // namespace

std::vector<pid_t> DescendantsOf(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  if (DIR* proc = opendir("/proc")) {
    while (const dirent* entry = readdir(proc)) {
      const pid_t pid = std::atoi(entry->d_name);
      if (pid > 0) children.emplace(ParentOf(pid), pid);
    }
    closedir(proc);
  }
  std::vector<pid_t> found = {root};
  for (size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto child = begin; child != end; ++child) {
      found.push_back(child->second);
    }
  }
  found.erase(found.begin());
  return found;
}

bool IsHeld(pid_t pid) {
  std::ifstream file(ProcFile(pid, "syscall"));
  std::string text;
  std::getline(file, text);
  static const std::string held =
      std::to_string(SYS_ppoll) + " 0x0 0x0 0x0 0x0 ";
  return text.starts_with(held);
}

std::optional<pid_t> AwaitHeld(pid_t root, milliseconds limit,
                               const std::function<bool()>& stop) {
  const auto end = Clock::now() + limit;
  const ProcessWatch root_watch(root);
  while (Clock::now() < end && !(stop && stop())) {
    for (const pid_t pid : DescendantsOf(root)) {
      if (IsHeld(pid)) return pid;
    }
    if (root_watch.AwaitEnd(kPause)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace bulkhead::tests
