// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>

#include <list>
#include <memory>

#include "core/supervisor/sandbox/cgroup.h"
#include "ipc/unique_fd.h"

namespace bulkhead::backend {

// The reapers that were asked to end and have not ended yet, and the cgroups
// that have a process left. A reaper ends all processes of its backend first,
// and a driver may hold one of them in the kernel for any time, so the event
// loop waits neither for a reaper nor for a cgroup: this object waits for them
// while everything else goes on.
//
//     reapers.Add(reaper_pidfd.get(), std::move(cgroup));
//     reapers.Add(std::move(cgroup));  // the reaper has ended
//
// A reaper that has not ended after kPatience gets a SIGKILL, and after the
// same time again it is left to whoever inherits bulkheadd's children. A
// cgroup, which may be null, is removed after that. If that fails for
// kPatience, the next bulkheadd removes it. Destroying this object does block,
// at most twice kPatience for all reapers and once for each cgroup: that is the
// end of bulkheadd.
//
// Bound to the event loop's thread.
class EndingReapers : private kj::TaskSet::ErrorHandler {
 public:
  static constexpr kj::Duration kPatience = 1 * kj::SECONDS;

  explicit EndingReapers(kj::UnixEventPort& port);
  ~EndingReapers() noexcept(false);
  KJ_DISALLOW_COPY(EndingReapers);

  // `pidfd` is borrowed for the call.
  void Add(int pidfd, std::unique_ptr<sandbox::Cgroup> cgroup);
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
  // Resolves once the cgroup is removed, or cannot be until `end`.
  kj::Promise<void> AwaitRemoval(const sandbox::Cgroup& cgroup,
                                 kj::TimePoint end);

  kj::UnixEventPort& port_;
  std::list<Ending> endings_;
  std::list<std::unique_ptr<sandbox::Cgroup>> cgroups_;
  kj::TaskSet tasks_;  // the last member: its tasks use the others
};

}  // namespace bulkhead::backend
