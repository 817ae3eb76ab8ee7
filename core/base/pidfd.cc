// SPDX-License-Identifier: Apache-2.0
#include "core/base/pidfd.h"

#include <poll.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace bulkhead {

pid_t PidOf(int pidfd) {
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(pidfd));
  pid_t pid = 0;
  // The kernel writes -1 for a dead process.
  std::istringstream(LineOf(info, "Pid:")) >> pid;
  return std::max(pid, 0);
}

bool HasEnded(int pidfd) {
  pollfd poll{.fd = pidfd, .events = POLLIN, .revents = 0};
  return pidfd < 0 || ::poll(&poll, 1, 0) != 0;
}

bool IsStopped(int pidfd) {
  std::ifstream status("/proc/" + std::to_string(PidOf(pidfd)) + "/status");
  const std::string state = LineOf(status, "State:");
  // The rest of the line is white space and a letter: "T (stopped)".
  const size_t letter = state.find_first_not_of(" \t");
  return letter != std::string::npos &&
         (state[letter] == 'T' || state[letter] == 't');
}

std::string LineOf(std::istream& file, std::string_view key) {
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return "";
}

}  // namespace bulkhead
