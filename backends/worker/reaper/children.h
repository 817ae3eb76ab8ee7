// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "ipc/unique_fd.h"

namespace bulkhead::worker {

// The children of the reaper: the zygote, which it started, and the session
// workers, which the zygote cloned as its siblings and of which bulkheadd tells
// it the pids. A pid is the zygote's claim until Watch has verified it.
//
// A child that ended before it was watched stays a zombie, so that its pid
// cannot come to mean another process and its end is not lost. How many of
// those a lying zygote can pile up is bounded by the limit of tasks, in which
// they count: it runs itself out of clones.
//
// Not thread-safe; owned by the reaper's only thread, and never used with
// SIGCHLD ignored.
class Children {
 public:
  struct Ended {
    pid_t pid;
    int wait_status;
  };

  explicit Children(pid_t zygote) : watched_{zygote} {}

  // A pidfd, or nothing where the pid is no child or watched already.
  ipc::UniqueFd Watch(pid_t pid_untrusted);
  // Does nothing unless it is watched and unreaped.
  void Kill(pid_t pid) const;
  // Reaps one watched child that has ended, the zygote before all others.
  std::optional<Ended> ReapOne();

 private:
  std::vector<pid_t> watched_;
};

}  // namespace bulkhead::worker
