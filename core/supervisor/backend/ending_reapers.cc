// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/ending_reapers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <iterator>
#include <utility>

#include "core/base/pidfd.h"
#include "ipc/deadline.h"

namespace bulkhead::backend {
namespace {

// The time between two attempts to remove a cgroup.
constexpr kj::Duration kLook = 10 * kj::MILLISECONDS;

}  // namespace

EndingReapers::Ending::Ending(kj::UnixEventPort& port, ipc::UniqueFd reaper,
                              std::unique_ptr<sandbox::Cgroup> group)
    : pidfd(std::move(reaper)),
      cgroup(std::move(group)),
      observer(port, pidfd.get(), kj::UnixEventPort::FdObserver::OBSERVE_READ) {
}

void EndingReapers::Ending::Kill() const {
  ::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
}

void EndingReapers::Ending::Reap() const {
  ::waitid(static_cast<idtype_t>(P_PIDFD), pidfd.get(), nullptr,
           WEXITED | WNOHANG | __WALL);
}

EndingReapers::EndingReapers(kj::UnixEventPort& port)
    : port_(port), tasks_(*this) {}

EndingReapers::~EndingReapers() noexcept(false) {
  // Waits for all reapers together: one after another, ten stopped reapers
  // would take ten seconds.
  AwaitAll();
  for (const Ending& ending : endings_) {
    if (!HasEnded(ending.pidfd.get())) ending.Kill();
  }
  AwaitAll();
  for (Ending& ending : endings_) {
    ending.Reap();
    if (ending.cgroup) cgroups_.push_back(std::move(ending.cgroup));
  }
  for (const auto& cgroup : cgroups_) {
    for (kj::Duration waited = 0 * kj::SECONDS;
         !cgroup->Remove() && waited < kPatience; waited += kLook) {
      ::poll(nullptr, 0, static_cast<int>(kLook / kj::MILLISECONDS));
    }
  }
}

void EndingReapers::AwaitAll() const {
  const auto deadline = ipc::Deadline::After(
      std::chrono::milliseconds(kPatience / kj::MILLISECONDS));
  for (const Ending& ending : endings_) {
    pollfd poll{.fd = ending.pidfd.get(), .events = POLLIN, .revents = 0};
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline.remaining());
    (void)::poll(&poll, 1, static_cast<int>(left.count()));
  }
}

void EndingReapers::Add(int pidfd, std::unique_ptr<sandbox::Cgroup> cgroup) {
  // A copy, since the caller may still observe the original.
  ipc::UniqueFd copy(::fcntl(pidfd, F_DUPFD_CLOEXEC, 0));
  if (!copy) {
    // Without a descriptor of its own this object cannot wait, so the reaper is
    // killed at once.
    ::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
    return Add(std::move(cgroup));
  }
  Ending& ending =
      endings_.emplace_back(port_, std::move(copy), std::move(cgroup));
  const auto place = std::prev(endings_.end());
  tasks_.add(AwaitEnd(ending)
                 .then([this, &ending](bool ended) -> kj::Promise<bool> {
                   if (ended) return true;
                   ending.Kill();
                   return AwaitEnd(ending);
                 })
                 .then([this, place](bool ended) {
                   if (ended) place->Reap();
                   Add(std::move(place->cgroup));
                   endings_.erase(place);
                 }));
}

void EndingReapers::Add(std::unique_ptr<sandbox::Cgroup> cgroup) {
  if (!cgroup || cgroup->Remove()) return;
  const auto place = cgroups_.insert(cgroups_.end(), std::move(cgroup));
  tasks_.add(AwaitRemoval(**place, port_.getTimer().now() + kPatience)
                 .then([this, place] { cgroups_.erase(place); }));
}

kj::Promise<void> EndingReapers::AwaitRemoval(const sandbox::Cgroup& cgroup,
                                              kj::TimePoint end) {
  kj::Timer& timer = port_.getTimer();
  if (cgroup.Remove() || timer.now() >= end) return kj::READY_NOW;
  return timer.afterDelay(kLook).then(
      [this, &cgroup, end] { return AwaitRemoval(cgroup, end); });
}

kj::Promise<bool> EndingReapers::AwaitEnd(Ending& ending) {
  return ending.observer.whenBecomesReadable()
      .then([] { return true; })
      .exclusiveJoin(
          port_.getTimer().afterDelay(kPatience).then([] { return false; }));
}

}  // namespace bulkhead::backend
