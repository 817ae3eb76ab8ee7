// SPDX-License-Identifier: Apache-2.0
#include "tests/support/process_watch.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace bulkhead::tests {
namespace {

using Clock = std::chrono::steady_clock;

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

}  // namespace bulkhead::tests
