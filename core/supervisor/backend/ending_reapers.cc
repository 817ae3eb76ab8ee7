// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/ending_reapers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iterator>
#include <utility>

namespace bulkhead::supervisor {

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
  for (Ending& ending : endings_) {
    pollfd poll{.fd = ending.pidfd.get(), .events = POLLIN, .revents = 0};
    const int patience = static_cast<int>(kPatience / kj::MILLISECONDS);
    if (::poll(&poll, 1, patience) <= 0) ending.Kill();
    if (::poll(&poll, 1, patience) > 0) ending.Reap();
  }
}

void EndingReapers::Add(int pidfd, std::unique_ptr<sandbox::Cgroup> cgroup) {
  // A copy, since the caller may still observe the original.
  ipc::UniqueFd copy(::fcntl(pidfd, F_DUPFD_CLOEXEC, 0));
  if (!copy) {
    // Without a descriptor there is nothing to wait with.
    ::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
    return;
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
                   endings_.erase(place);
                 }));
}

kj::Promise<bool> EndingReapers::AwaitEnd(Ending& ending) {
  return ending.observer.whenBecomesReadable()
      .then([] { return true; })
      .exclusiveJoin(
          port_.getTimer().afterDelay(kPatience).then([] { return false; }));
}

}  // namespace bulkhead::supervisor
