// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

#include "ipc/unique_fd.h"

namespace bulkhead::tests {

// The time that a test waits for something that is sure to come. It is long, so
// that a busy machine fails no test.
inline constexpr std::chrono::milliseconds kPatience{60'000};

// Watches a process through a pidfd. The process need not be a child of this
// one. If the pid is reused, the watch does not confuse the two processes. Not
// thread-safe.
class ProcessWatch {
 public:
  explicit ProcessWatch(pid_t pid);

  pid_t pid() const { return pid_; }
  // Returns false if there was no such process when the watch began.
  bool valid() const { return static_cast<bool>(pidfd_); }
  bool Signal(int signal) const;
  // Waits for at most `limit`. Returns whether the process has ended.
  bool AwaitEnd(std::chrono::milliseconds limit = kPatience) const;

 private:
  pid_t pid_;
  ipc::UniqueFd pidfd_;
};

// Waits for at most `limit` until all processes have ended. Returns the pids of
// those that have not.
std::vector<pid_t> AwaitEndOfAll(const std::vector<ProcessWatch>& processes,
                                 std::chrono::milliseconds limit = kPatience);

// Returns the pids of all descendants of `root`, which need not be a child of
// this process.
std::vector<pid_t> DescendantsOf(pid_t root);

}  // namespace bulkhead::tests
