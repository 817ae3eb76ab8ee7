// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>

#include <list>
#include <memory>

#include "core/supervisor/sandbox/cgroup.h"
#include "ipc/unique_fd.h"

namespace bulkhead::backend {

// Waits for reapers that were asked to end, and for cgroups that still have a
// process, while the event loop goes on. Such a wait may last for any time: a
// reaper first ends all processes of its backend, and a driver may hold one of
// them in the kernel. So no other class waits for a reaper or a cgroup.
//
//     reapers.Add(reaper_pidfd.get(), std::move(cgroup));
//     reapers.Add(std::move(cgroup));  // the reaper has ended
//
// - A reaper that has not ended after kPatience gets a SIGKILL.
// - If it has not ended after another kPatience, it is left to the process that
//   inherits bulkheadd's children.
// - Last, its cgroup is removed; `cgroup` may be null. If that fails for
//   kPatience, the next bulkheadd removes the cgroup.
//
// Only the destructor blocks, at the end of bulkheadd: at most 2 * kPatience
// for all reapers together, and kPatience for each cgroup.
//
// Bound to the event loop's thread.
class EndingReapers : private kj::TaskSet::ErrorHandler {
 public:
  static constexpr kj::Duration kPatience = 1 * kj::SECONDS;

  explicit EndingReapers(kj::UnixEventPort& port);
  ~EndingReapers() noexcept(false);
  KJ_DISALLOW_COPY(EndingReapers);

  // Takes over a reaper that was asked to end, and its cgroup. `pidfd` is
  // duplicated.
  void Add(int pidfd, std::unique_ptr<sandbox::Cgroup> cgroup);
  // Takes over the cgroup of a reaper that has ended.
  void Add(std::unique_ptr<sandbox::Cgroup> cgroup);
  size_t count() const { return endings_.size() + cgroups_.size(); }

 private:
  struct Ending {
    Ending(kj::UnixEventPort& port, ipc::UniqueFd reaper,
           std::unique_ptr<sandbox::Cgroup> group);

    void Kill() const;
    void Reap() const;

    ipc::UniqueFd pidfd;
    std::unique_ptr<sandbox::Cgroup> cgroup;
    kj::UnixEventPort::FdObserver observer;
  };

  void taskFailed(kj::Exception&&) override {}
  // Blocks until all reapers have ended, for at most kPatience.
  void AwaitAll() const;
  // Resolves with whether the reaper has ended within kPatience.
  kj::Promise<bool> AwaitEnd(Ending& ending);
  // Tries to remove the cgroup; resolves once that has succeeded, or at `end`.
  kj::Promise<void> AwaitRemoval(const sandbox::Cgroup& cgroup,
                                 kj::TimePoint end);

  kj::UnixEventPort& port_;
  std::list<Ending> endings_;
  std::list<std::unique_ptr<sandbox::Cgroup>> cgroups_;
  kj::TaskSet tasks_;  // the last member: its tasks use the others
};

}  // namespace bulkhead::backend
