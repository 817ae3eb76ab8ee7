// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/reaper_link.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "core/base/from_ipc.h"
#include "ipc/capnp_read.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::backend {
namespace {

namespace schema = ipc::schema;

ipc::UniqueFd OnlyDescriptor(ipc::ReceivedMessage& message) {
  return message.descriptors.size() == 1 ? std::move(message.descriptors[0])
                                         : ipc::UniqueFd();
}

}  // namespace

ReaperLink::ReaperLink(kj::UnixEventPort& port, pid_t pid, ipc::UniqueFd pidfd,
                       ipc::UniqueFd control,
                       std::unique_ptr<sandbox::Cgroup> cgroup,
                       EndingReapers& ending, kj::TaskSet& tasks,
                       Listener& listener)
    : timer_(port.getTimer()),
      pid_(pid),
      pidfd_(std::move(pidfd)),
      observer_(port, pidfd_.get(),
                kj::UnixEventPort::FdObserver::OBSERVE_READ),
      socket_(std::make_unique<sockets::EventSocket>(port, std::move(control))),
      cgroup_(std::move(cgroup)),
      ending_(ending),
      tasks_(tasks),
      listener_(listener) {}

ReaperLink::~ReaperLink() noexcept(false) {
  if (alive_) {
    // A reaper without a control socket ends all other processes, then itself.
    socket_.reset();
    ending_.Add(pidfd_.get(), std::move(cgroup_));
  } else {
    ending_.Add(std::move(cgroup_));
  }
}

kj::Promise<void> ReaperLink::Serve() {
  return socket_->Receive(1).then([this](auto received) -> kj::Promise<void> {
    if (received && !*received) {
      // The socket closes a moment before the process has ended. How it ended
      // decides whose fault that was, so it is waited for.
      return timer_.afterDelay(kPatience).then([this] {
        if (alive_) GiveUp();
      });
    }
    if (!received || !OnEvent(**received).ok()) {
      GiveUp();
      return kj::READY_NOW;
    }
    return Serve();
  });
}

Status ReaperLink::OnEvent(ipc::ReceivedMessage& message) {
  const auto handled = ipc::ReadCatching([&]() -> ipc::Expected<void> {
    auto root = message.root<schema::ReaperEvent>();
    if (!root) return tl::unexpected(std::move(root).error());
    switch (root->which()) {
      case schema::ReaperEvent::STARTED:
        listener_.OnStarted(root->getStarted(), OnlyDescriptor(message));
        break;
      case schema::ReaperEvent::WATCHED:
        listener_.OnWatched(root->getWatched(), OnlyDescriptor(message));
        break;
      case schema::ReaperEvent::REFUSED:
        listener_.OnRefused(root->getRefused());
        break;
      case schema::ReaperEvent::STARVED:
        listener_.OnStarved(root->getStarved());
        break;
      case schema::ReaperEvent::EXITED:
        listener_.OnExited(root->getExited().getPid(),
                           root->getExited().getWaitStatus());
        break;
    }
    return {};
  });
  return handled ? Status() : FromIpc(handled.error());
}

void ReaperLink::Watch(pid_t pid_untrusted, std::function<void()> again) {
  // Only the reaper knows whether that process is a child of its own.
  capnp::MallocMessageBuilder request;
  request.initRoot<schema::ReaperRequest>().setWatch(pid_untrusted);
  Send(request, std::move(again));
}

void ReaperLink::Kill(pid_t pid) {
  capnp::MallocMessageBuilder message;
  message.initRoot<schema::ReaperRequest>().setKill(pid);
  Send(message, [this, pid] { Kill(pid); });
}

void ReaperLink::Send(capnp::MessageBuilder& message,
                      std::function<void()> again) {
  const auto sent = socket_->Send(message);
  // Serve() deals with a reaper that has closed its socket.
  if (sent || sent.error().code == ipc::Code::kBackendLost) return;
  if (sent.error().code != ipc::Code::kDeadlineExceeded) return GiveUp();
  // The socket is full of requests that the reaper has not had time for.
  tasks_.add(
      timer_.afterDelay(kStarvedPause).then([this, again = std::move(again)] {
        if (alive_) again();
      }));
}

void ReaperLink::GiveUp() {
  Look();
  if (alive_) {
    killed_ = true;
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  }
  listener_.OnReaperGone();
}

void ReaperLink::Look() {
  // WNOWAIT leaves the process for Reap() to reap. Nothing is done if the end
  // is known, or was bulkheadd's own doing.
  siginfo_t end = {};
  if (!alive_ || exit_ || killed_ ||
      ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd_.get()),
               &end, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 ||
      end.si_pid == 0) {
    return;
  }
  blame::ProcessExit exit;
  exit.kind = end.si_code == CLD_EXITED ? blame::ProcessExit::Kind::kExited
                                        : blame::ProcessExit::Kind::kSignaled;
  exit.value = end.si_status;
  exit_ = exit;
}

kj::Promise<void> ReaperLink::Reap() {
  return observer_.whenBecomesReadable().then([this] {
    Look();
    ::waitid(static_cast<idtype_t>(P_PIDFD), pidfd_.get(), nullptr,
             WEXITED | __WALL);
    alive_ = false;
    GiveUp();
  });
}

}  // namespace bulkhead::backend
