// SPDX-License-Identifier: Apache-2.0
#include "tests/support/process_watch.h"

#include <dirent.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

namespace bulkhead::tests {
namespace {

using Clock = std::chrono::steady_clock;

// Returns the pid of the parent, or 0 if the process is gone.
pid_t ParentOf(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);
  // Searches from the end, since the name before it may contain anything.
  const size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos) return 0;
  // "S 1234 ..."
  return static_cast<pid_t>(std::atoi(text.c_str() + name_end + 4));
}

}  // namespace

ProcessWatch::ProcessWatch(pid_t pid)
    : pid_(pid),
      pidfd_(pid > 0 ? static_cast<int>(syscall(SYS_pidfd_open, pid, 0)) : -1) {
}

bool ProcessWatch::Signal(int signal) const {
  return syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0) == 0;
}

bool ProcessWatch::AwaitEnd(std::chrono::milliseconds limit) const {
  if (!valid()) return true;
  const auto end = Clock::now() + limit;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - Clock::now());
    pollfd ended = {pidfd_.get(), POLLIN, 0};
    const int ready =
        poll(&ended, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready >= 0 || errno != EINTR) return ready == 1;
  }
}

std::vector<pid_t> AwaitEndOfAll(const std::vector<ProcessWatch>& processes,
                                 std::chrono::milliseconds limit) {
  const auto end = Clock::now() + limit;
  std::vector<pid_t> alive;
  for (const ProcessWatch& process : processes) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - Clock::now());
    if (!process.AwaitEnd(std::max(left, std::chrono::milliseconds(0)))) {
      alive.push_back(process.pid());
    }
  }
  return alive;
}

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

}  // namespace bulkhead::tests
