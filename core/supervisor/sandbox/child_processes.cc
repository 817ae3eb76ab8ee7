// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/child_processes.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>

#include "core/base/pidfd.h"
#include "core/supervisor/sandbox/thread_status.h"

namespace bulkhead::sandbox {

std::vector<ChildProcess> ChildrenOf(pid_t parent) {
  std::vector<ChildProcess> children;
  const std::string process = std::to_string(parent);
  std::ifstream list("/proc/" + process + "/task/" + process + "/children");
  for (pid_t pid; list >> pid;) {
    ipc::UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    const auto status = ReadThreadStatus("/proc/" + std::to_string(pid));
    // The status was read after the pidfd was opened, and the pidfd's process
    // still lives, so the status is of the same process.
    if (!pidfd || !status || status->parent != parent ||
        HasEnded(pidfd.get())) {
      continue;
    }
    children.push_back({status->inner_process, std::move(pidfd)});
  }
  return children;
}

}  // namespace bulkhead::sandbox
