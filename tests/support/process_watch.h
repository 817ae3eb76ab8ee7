// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

#include "ipc/unique_fd.h"

namespace bulkhead::tests {

// A process that need not be our child, held by pidfd: no number can come to
// mean another process while it is watched. Not thread-safe.
class ProcessWatch {
 public:
  explicit ProcessWatch(pid_t pid);

  pid_t pid() const { return pid_; }
  // False: there was no such process when the watch began.
  bool valid() const { return static_cast<bool>(pidfd_); }
  bool Signal(int signal) const;
  // True: it has ended.
  bool AwaitEnd(std::chrono::milliseconds limit) const;

 private:
  pid_t pid_;
  ipc::UniqueFd pidfd_;
};

// The pids of those that are still there when the time is over.
std::vector<pid_t> AwaitEndOfAll(const std::vector<ProcessWatch>& processes,
                                 std::chrono::milliseconds limit);

// Processes below `root`, which need not be children of ours.
std::vector<pid_t> DescendantsOf(pid_t root);

}  // namespace bulkhead::tests
