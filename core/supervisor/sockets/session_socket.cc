// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sockets/session_socket.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include "core/base/from_ipc.h"
#include "core/base/pidfd.h"
#include "core/supervisor/sandbox/thread_status.h"
#include "core/supervisor/sockets/lateness.h"
#include "core/worker_protocol/reply_validation.h"
#include "ipc/capnp_read.h"
#include "ipc/message_socket.h"
#include "ipc/schema/types.capnp.h"

namespace bulkhead::sockets {
namespace {

using std::chrono::milliseconds;
using worker_protocol::StepDeadline;
using worker_protocol::WorkerChannel;

// The time between two attempts to send a descriptor.
constexpr kj::Duration kStarvedPause = 20 * kj::MILLISECONDS;

kj::Duration ToDuration(milliseconds time) {
  return time.count() * kj::MILLISECONDS;
}

using Received = ipc::Expected<std::optional<ipc::ReceivedMessage>>;

// Returns OK for a valid hello.
Status JudgeHello(Received hello, bool shared) {
  if (!hello) {
    // bulkheadd lacked memory or descriptors, which is not the worker's fault.
    return hello.error().code == ipc::Code::kResourceExhausted
               ? FromIpc(std::move(hello).error())
               : Status(Code::kBackendMisbehaved, hello.error().message);
  }
  if (!*hello) return Status(Code::kBackendLost, "it ended");
  return worker_protocol::ValidateHello(**hello, shared);
}

}  // namespace

SessionSocket::SessionSocket(kj::UnixEventPort& port, ipc::UniqueFd socket)
    : port_(port), socket_(port, std::move(socket)) {}

Status SessionSocket::Watch(int pidfd, std::function<void()> ended) {
  pidfd_ = ipc::UniqueFd(::fcntl(pidfd, F_DUPFD_CLOEXEC, 0));
  if (!pidfd_) {
    return Status(
        Code::kResourceExhausted,
        "cannot watch a worker: " + std::generic_category().message(errno));
  }
  observer_ = kj::heap<kj::UnixEventPort::FdObserver>(
      port_, pidfd_.get(), kj::UnixEventPort::FdObserver::OBSERVE_READ);
  ended_ = observer_->whenBecomesReadable().then(std::move(ended)).fork();
  return Status();
}

std::shared_ptr<StepDeadline> SessionSocket::Within(milliseconds patience) {
  return std::make_shared<StepDeadline>(patience, [this] {
    return worker_protocol::ReadRunDelays(PidOf(pidfd_.get()));
  });
}

kj::Promise<void> SessionSocket::Standstill(
    std::shared_ptr<StepDeadline> deadline, milliseconds patience,
    uint64_t threads) {
  return Lateness(port_.getTimer(), deadline)
      .then([this, deadline, patience, threads]() -> kj::Promise<void> {
        const uint64_t left = sandbox::CountThreads(pidfd_.get());
        // No thread has ended within the last timeout.
        if (left >= threads) return kj::READY_NOW;
        deadline->Renew(patience);
        if (deadline->used_up()) return kj::READY_NOW;
        return Standstill(deadline, patience, left);
      });
}

kj::Promise<Status> SessionSocket::Attach(Memory memory, bool shared,
                                          milliseconds patience,
                                          std::function<Status()> confirm) {
  auto late = Lateness(port_.getTimer(), Within(patience)).then([] {
    return Status(Code::kDeadlineExceeded, "it sent no hello");
  });
  const kj::TimePoint end = port_.getTimer().now() + ToDuration(patience);
  auto hello = socket_.Receive(0).then([shared](Received received) {
    return JudgeHello(std::move(received), shared);
  });
  return hello.exclusiveJoin(kj::mv(late))
      .then(
          [this, end, memory = std::move(memory), confirm = std::move(confirm)](
              Status status) mutable -> kj::Promise<Status> {
            if (status.ok()) status = confirm();
            if (!status.ok()) return status;
            // From here on the worker may have read the media, also if Send()
            // fails.
            attached_ = true;
            auto sent = std::make_shared<Memory>(std::move(memory));
            return Send(
                [this, sent] {
                  std::vector<int> descriptors;
                  for (const auto& fd : sent->descriptors) {
                    descriptors.push_back(fd.get());
                  }
                  return WorkerChannel::SendAttach(descriptors, sent->access,
                                                   SendAtOnce());
                },
                end);
          });
}

kj::Promise<Status> SessionSocket::AttachPool(uint32_t slot_count,
                                              uint64_t slot_bytes,
                                              ipc::UniqueFd pool,
                                              milliseconds patience) {
  pool_ = std::move(pool);
  return Send(
      [this, slot_count, slot_bytes] {
        return WorkerChannel::SendPool(slot_count, slot_bytes, pool_.get(),
                                       SendAtOnce());
      },
      port_.getTimer().now() + ToDuration(patience));
}

kj::Promise<Status> SessionSocket::Send(std::function<Status()> send,
                                        kj::TimePoint end) {
  Status sent = send();
  if (sent.code() != Code::kResourceExhausted ||
      port_.getTimer().now() >= end) {
    return sent;
  }
  return port_.getTimer()
      .afterDelay(kStarvedPause)
      .then([this, send = std::move(send), end]() mutable {
        return Send(std::move(send), end);
      });
}

WorkerChannel::SendMessage SessionSocket::SendAtOnce() {
  return
      [this](capnp::MessageBuilder& message, std::span<const int> descriptors) {
        auto sent = socket_.Send(message, descriptors);
        if (sent) return Status();
        // kResourceExhausted is not the worker's fault: other processes have
        // used up the descriptors in flight.
        return sent.error().code == ipc::Code::kResourceExhausted
                   ? FromIpc(std::move(sent).error())
                   : Status(Code::kBackendLost, "it ended");
      };
}

CrashClaim SessionSocket::TakeNote() {
  // Before Attach() has read the hello, the next message is the hello.
  if (!attached_) return {};
  auto note_untrusted = socket_.TryReceive(0);
  if (!note_untrusted) return {};
  auto* const message = std::get_if<ipc::ReceivedMessage>(&*note_untrusted);
  if (message == nullptr) return {};
  auto claim = ipc::ReadCatching([&]() -> ipc::Expected<CrashClaim> {
    auto note = message->root<ipc::schema::CrashNote>();
    if (!note) return tl::unexpected(std::move(note).error());
    return ReadCrashNote(*note);
  });
  return claim ? *std::move(claim) : CrashClaim();
}

void SessionSocket::Kill() {
  found_stopped_ = IsStopped(pidfd_.get());
  ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
}

kj::Promise<bool> SessionSocket::AwaitEnd(milliseconds patience) {
  return AwaitEndOr(port_.getTimer().afterDelay(ToDuration(patience)));
}

kj::Promise<bool> SessionSocket::AwaitEndUnderWay(milliseconds patience) {
  return AwaitEndOr(Standstill(Within(patience), patience,
                               sandbox::CountThreads(pidfd_.get())));
}

kj::Promise<bool> SessionSocket::AwaitEndOr(kj::Promise<void> late) {
  KJ_IF_MAYBE (ended, ended_) {
    return ended->addBranch()
        .then([] { return true; })
        .exclusiveJoin(late.then([this] { return HasEnded(pidfd_.get()); }));
  }
  return false;
}

}  // namespace bulkhead::sockets
