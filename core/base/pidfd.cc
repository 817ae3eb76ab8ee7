// SPDX-License-Identifier: Apache-2.0
#include "core/base/pidfd.h"

#include <poll.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace bulkhead {

pid_t PidOf(int pidfd) {
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(pidfd));
  for (std::string word; info >> word;) {
    if (word == "Pid:") {
      pid_t pid = 0;
      info >> pid;
      // The kernel writes -1 for a dead process.
      return std::max(pid, 0);
    }
  }
  return 0;
}

bool HasEnded(int pidfd) {
  pollfd poll{.fd = pidfd, .events = POLLIN, .revents = 0};
  return pidfd < 0 || ::poll(&poll, 1, 0) != 0;
}

bool IsStopped(int pidfd) {
  std::ifstream status("/proc/" + std::to_string(PidOf(pidfd)) + "/status");
  for (std::string word; status >> word;) {
    if (word == "State:") {
      std::string state;
      status >> state;
      return state == "T" || state == "t";
    }
  }
  return false;
}

}  // namespace bulkhead
