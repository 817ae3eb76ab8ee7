// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ipc/error.h"
#include "ipc/unique_fd.h"

namespace bulkhead::worker::reaper {

// The child processes of the reaper: the zygote, which the reaper started, and
// the workers, which the zygote cloned as its siblings. The zygote reports the
// pid of each worker to bulkheadd, which asks the reaper to watch the worker.
// The pid is an untrusted claim until Watch() has verified it.
//
// A child that ends before it is watched stays a zombie, so that the kernel
// cannot reuse its pid, and its end is not lost. A lying zygote can pile up
// zombies only until the limit on tasks is reached, since zombies count towards
// it; then the zygote can clone no more.
//
// Not thread-safe: owned by the reaper's only thread. SIGCHLD must not be
// ignored, since the kernel would then reap children by itself.
class Children {
 public:
  struct Ended {
    pid_t pid;
    int wait_status;
  };

  explicit Children(pid_t zygote) : watched_{zygote} {}

  // Starts to watch a child. Returns a pidfd of the child, or the pidfd that
  // Keep stored for it. Fails with kBackendMisbehaved if the pid is not a
  // child's or is watched already, and with kResourceExhausted if the kernel
  // gives no descriptor.
  ipc::Expected<ipc::UniqueFd> Watch(pid_t pid_untrusted);
  // Stores the pidfd of a watched child if it could not be sent to bulkheadd.
  // The next Watch() of the child returns it.
  void Keep(pid_t pid, ipc::UniqueFd pidfd) { kept_[pid] = std::move(pidfd); }
  // Kills a child that is watched and not reaped yet; ignores any other pid.
  void Kill(pid_t pid) const;
  // Reaps one watched child that has ended, the zygote before all others.
  // Returns nullopt if no watched child is left that has ended.
  std::optional<Ended> ReapOne();

 private:
  std::vector<pid_t> watched_;
  std::map<pid_t, ipc::UniqueFd> kept_;
};

}  // namespace bulkhead::worker::reaper
