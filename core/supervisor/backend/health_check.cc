// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/health_check.h"

#include <span>
#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/control/exit_report.h"
#include "core/supervisor/blame/process_exit.h"
#include "core/worker_protocol/reply_validation.h"
#include "core/worker_protocol/stream_opening.h"
#include "ipc/capnp_read.h"
#include "ipc/message_socket.h"

namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;
using session::kSmallRequestWords;
using session::WorkerChannel;
using std::chrono::milliseconds;

constexpr uint32_t kEpoch = 1;
// The socket of a worker closes a moment before its end is reported.
constexpr milliseconds kEndPatience{500};

// Completes a violation that worker_protocol reports.
Status Judged(const Status& valid) {
  return valid.ok() ? valid : Misbehaved(valid.message());
}

// Returns what a worker said of its own end; empty if it said nothing.
CrashClaim ClaimIn(
    ipc::Expected<std::optional<ipc::ReceivedMessage>> note_untrusted) {
  if (!note_untrusted || !*note_untrusted) return {};
  auto claim = ipc::ReadCatching([&]() -> ipc::Expected<CrashClaim> {
    auto note = (*note_untrusted)->root<schema::CrashNote>();
    if (!note) return tl::unexpected(std::move(note).error());
    return ReadCrashNote(*note);
  });
  return claim ? *std::move(claim) : CrashClaim();
}

}  // namespace

HealthCheck::HealthCheck(kj::UnixEventPort& port,
                         std::shared_ptr<Incarnation> incarnation)
    : port_(port), incarnation_(std::move(incarnation)) {}

HealthCheck::~HealthCheck() noexcept(false) {
  if (!worker_) return;
  incarnation_->KillWorker(worker_->pid);
  incarnation_->ForgetWorker(worker_->pid);
}

kj::Promise<Status> HealthCheck::Run(discovery::StreamKind kind,
                                     uint32_t device, milliseconds limit) {
  stream_.emplace(kind);
  auto sockets = ipc::MakeSocketPair();
  if (!sockets) return FromIpc(std::move(sockets).error());
  socket_ = std::make_unique<EventSocket>(port_, std::move(sockets->first));
  auto late = port_.getTimer().afterDelay(limit.count() * kj::MILLISECONDS);
  return incarnation_
      ->CloneWorker(Incarnation::WorkerKind::kSession,
                    std::move(sockets->second), limit)
      .then([this, device](auto worker) -> kj::Promise<Status> {
        if (!worker) return std::move(worker).error();
        worker_ = *std::move(worker);
        return Decode(device);
      })
      .exclusiveJoin(late.then(
          [] { return Status(Code::kDeadlineExceeded, "it took too long"); }))
      .then([this](Status status) {
        return unsupported_ || status.ok()
                   ? Status()
                   : status.WithContext(
                         "it did not decode Bulkhead's built-in clip");
      });
}

kj::Promise<Status> HealthCheck::AwaitDeath(CrashClaim claim) {
  return incarnation_->AwaitEnd(worker_->pid, kEndPatience)
      .then([claim = std::move(claim)](const ProcessExit& end) mutable {
        ExitReport report = ToReport(end);
        AddClaim(std::move(claim), report);
        return Status(Code::kBackendLost,
                      "its process died: " + DescribeExit(report));
      });
}

kj::Promise<Status> HealthCheck::Decode(uint32_t device) {
  return socket_->Receive(0).then([this,
                                   device](auto hello) -> kj::Promise<Status> {
    if (!hello) return FromIpc(std::move(hello).error());
    if (!*hello) return AwaitDeath({});
    if (Status valid = session::ValidateHello(**hello, /*shared=*/false);
        !valid.ok()) {
      return Judged(valid);
    }
    if (Status status = incarnation_->ConfirmWorker(*worker_); !status.ok()) {
      return status;
    }
    if (Status status = Attach(); !status.ok()) return status;
    if (Status asked = AskToOpen(device); !asked.ok()) return asked;
    // From here on the worker sends nothing over its socket but the note of a
    // crash, so whatever arrives there means that it dies.
    auto died = socket_->Receive(0).then(
        [this](auto note) { return AwaitDeath(ClaimIn(std::move(note))); });
    return AwaitReply([this](Reply::Reader reply_untrusted) {
             const auto judged = stream_->JudgeOpened(reply_untrusted);
             return judged ? *judged : FailureOf(reply_untrusted);
           })
        .then([this](Status status) -> kj::Promise<Status> {
          if (!status.ok()) return status;
          return Play();
        })
        .exclusiveJoin(kj::mv(died));
  });
}

Status HealthCheck::AskToOpen(uint32_t device) {
  const session::StreamOpening opening = stream_->Opening(device);
  return Judged(channel_->Request(
      session::OpeningWords(opening), [&](schema::Request::Builder request) {
        session::WriteOpening(opening, request.initOpen());
      }));
}

kj::Promise<Status> HealthCheck::Play() {
  if (Status attached = AttachPool(); !attached.ok()) return attached;
  return AwaitReply([this](Reply::Reader reply_untrusted) {
           return reply_untrusted.isPoolAttached() ? Status()
                                                   : FailureOf(reply_untrusted);
         })
      .then([this](Status status) -> kj::Promise<Status> {
        if (!status.ok()) return status;
        status = channel_->Request(
            kSmallRequestWords, [this](schema::Request::Builder request) {
              stream_->FillPlay(kEpoch, request.initPlay());
            });
        if (status.ok()) status = channel_->Grant(*pool_);
        if (!status.ok()) return Judged(status);
        return AwaitOutput();
      });
}

kj::Promise<Status> HealthCheck::AwaitOutput() {
  auto more = std::make_shared<bool>(false);
  return AwaitReply([this, more](Reply::Reader reply_untrusted) {
           // The worker also reports how its pass goes. A worker that reports
           // without end is stopped by the deadline of the check.
           *more = reply_untrusted.isEntered() || reply_untrusted.isUnseen();
           if (*more) return Status();
           const auto judged = stream_->JudgeOutput(reply_untrusted, pool_);
           return judged ? *judged : FailureOf(reply_untrusted);
         })
      .then([this, more](Status status) -> kj::Promise<Status> {
        if (*more) return AwaitOutput();
        return status;
      });
}

WorkerChannel::SendMessage HealthCheck::SendAtOnce() {
  return
      [this](capnp::MessageBuilder& message, std::span<const int> descriptors) {
        return FromIpc(socket_->Send(message, descriptors));
      };
}

Status HealthCheck::Attach() {
  ASSIGN_OR_RETURN(const ipc::UniqueFd clip, stream_->MakeMedia());
  ASSIGN_OR_RETURN(channel_, WorkerChannel::Create());
  channel_->WakeForEveryReply();
  replies_ = kj::heap<kj::UnixEventPort::FdObserver>(
      port_, channel_->wake_fd(), kj::UnixEventPort::FdObserver::OBSERVE_READ);
  return channel_->SendMemory(clip.get(), WorkerChannel::MediaAccess::kDirect,
                              SendAtOnce());
}

Status HealthCheck::AttachPool() {
  ASSIGN_OR_RETURN(pool_, stream_->MakePool());
  RETURN_IF_ERROR(WorkerChannel::SendPool(*pool_, SendAtOnce()));
  return Judged(channel_->Request(
      kSmallRequestWords, [](auto request) { request.setAttachPool(); }));
}

kj::Promise<Status> HealthCheck::AwaitReply(WorkerChannel::TakeReply take) {
  channel_->ClearWake();
  const auto read = channel_->TryRead();
  if (!read) return Misbehaved(read.error().message);
  if (!*read) {
    return replies_->whenBecomesReadable().then(
        [this, take = std::move(take)]() mutable {
          return AwaitReply(std::move(take));
        });
  }
  auto taken = channel_->Take(take);
  return taken ? *std::move(taken) : Misbehaved(taken.error().message);
}

Status HealthCheck::FailureOf(Reply::Reader reply_untrusted) {
  if (!reply_untrusted.isFailed()) {
    return Misbehaved("it answered with something else");
  }
  auto claimed =
      session::ValidateFailure(reply_untrusted.getFailed().getFailure());
  if (!claimed) return Misbehaved(claimed.error().message());
  unsupported_ = claimed->status.code() == Code::kUnsupported;
  return std::move(claimed->status);
}

}  // namespace bulkhead::supervisor
