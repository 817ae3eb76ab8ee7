// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/worker_talk.h"

#include <span>
#include <string>
#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/pidfd.h"
#include "core/base/status_macros.h"
#include "core/control/exit_report.h"
#include "core/supervisor/blame/culprit.h"
#include "core/supervisor/blame/process_exit.h"
#include "core/supervisor/sockets/lateness.h"
#include "core/worker_protocol/reply_validation.h"
#include "core/worker_protocol/step_deadline.h"
#include "ipc/capnp_read.h"
#include "ipc/message_socket.h"

namespace bulkhead::backend {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;
using worker_protocol::WorkerChannel;

// The socket of a worker closes a moment before its end is reported.
constexpr milliseconds kEndPatience{500};

Status NotToBlame(const Status& failure) {
  return Status(Code::kResourceExhausted, failure.message());
}

// Turns a violation that worker_protocol found into kBackendMisbehaved.
Status Judged(const Status& valid) {
  return valid.ok() ? valid : Misbehaved(valid.message());
}

// Returns what a worker said of its crash; empty if it said nothing.
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

Status Misbehaved(const std::string& what) {
  return Status(Code::kBackendMisbehaved, "it broke the protocol: " + what);
}

Status FailureOf(schema::Reply::Reader reply_untrusted) {
  if (!reply_untrusted.isFailed()) {
    return Misbehaved("it answered with something else");
  }
  auto claimed = worker_protocol::ValidateFailure(
      reply_untrusted.getFailed().getFailure());
  if (!claimed) return Misbehaved(claimed.error().message());
  return std::move(claimed->status);
}

WorkerTalk::WorkerTalk(kj::UnixEventPort& port,
                       std::shared_ptr<Incarnation> incarnation)
    : port_(port), incarnation_(std::move(incarnation)) {}

WorkerTalk::~WorkerTalk() noexcept(false) {
  if (!worker_) return;
  incarnation_->KillWorker(worker_->pid);
  incarnation_->ForgetWorker(worker_->pid);
}

kj::Promise<Status> WorkerTalk::Begin(Incarnation::WorkerKind kind,
                                      ipc::UniqueFd media,
                                      const sandbox::MemoryAllowance& memory,
                                      milliseconds limit) {
  auto sockets = ipc::MakeSocketPair();
  if (!sockets) return FromIpc(std::move(sockets).error());
  socket_ =
      std::make_unique<sockets::EventSocket>(port_, std::move(sockets->first));
  return incarnation_
      ->CloneWorker(kind, std::move(sockets->second), limit, memory)
      .then([this, media = std::move(media)](
                auto worker) mutable -> kj::Promise<Status> {
        if (!worker) return NotToBlame(worker.error());
        worker_ = *std::move(worker);
        return socket_->Receive(0).then([this, media = std::move(media)](
                                            auto hello) -> kj::Promise<Status> {
          if (!hello) return FromIpc(std::move(hello).error());
          if (!*hello) return AwaitDeath({});
          Status valid =
              worker_protocol::ValidateHello(**hello, /*shared=*/false);
          if (!valid.ok()) return Judged(valid);
          Status confirmed = incarnation_->ConfirmWorker(*worker_);
          if (!confirmed.ok()) return confirmed;
          return Attach(media);
        });
      });
}

kj::Promise<Status> WorkerTalk::WhenDead() {
  // Once it has its media, the worker sends nothing over its socket but the
  // note of a crash, so whatever arrives there means that it dies.
  return socket_->Receive(0).then(
      [this](auto note) { return AwaitDeath(ClaimIn(std::move(note))); });
}

kj::Promise<Status> WorkerTalk::AwaitDeath(CrashClaim claim) {
  return incarnation_->AwaitEnd(worker_->pid, kEndPatience)
      .then([claim = std::move(claim)](const blame::ProcessExit& end) mutable {
        ExitReport report = blame::ToReport(end);
        AddClaim(std::move(claim), report);
        const Status died(Code::kBackendLost,
                          "its process died: " + DescribeExit(report));
        // The worker had only a known clip, so it is judged like a worker
        // without media: its end is the fault of the backend, unless
        // CulpritOf() blames nobody or the memory ran out.
        const bool others =
            end.kind == blame::ProcessExit::Kind::kOutOfMemory ||
            blame::CulpritOf(end, blame::HostObservation::kDied, false) ==
                blame::Culprit::kNobody;
        return others ? NotToBlame(died) : died;
      });
}

kj::Promise<Status> WorkerTalk::WhenLate(milliseconds limit) {
  const auto began = std::chrono::steady_clock::now();
  auto deadline =
      std::make_shared<worker_protocol::StepDeadline>(limit, [this] {
        return worker_
                   ? worker_protocol::ReadRunDelays(PidOf(worker_->pidfd.get()))
                   : worker_protocol::RunDelays();
      });
  return sockets::Lateness(port_.getTimer(), std::move(deadline))
      .then([began, limit] {
        const Status late(Code::kDeadlineExceeded, "it took too long");
        // Only waits for a processor extend the deadline by so much.
        const bool waited =
            std::chrono::steady_clock::now() - began > limit + limit / 2;
        return waited ? NotToBlame(late) : late;
      });
}

WorkerChannel::SendMessage WorkerTalk::SendAtOnce() {
  return
      [this](capnp::MessageBuilder& message, std::span<const int> descriptors) {
        return FromIpc(socket_->Send(message, descriptors));
      };
}

Status WorkerTalk::Attach(const ipc::UniqueFd& media) {
  ASSIGN_OR_RETURN(channel_,
                   WorkerChannel::Create(WorkerChannel::Host::kEventLoop));
  replies_ = kj::heap<kj::UnixEventPort::FdObserver>(
      port_, channel_->wake_fd(), kj::UnixEventPort::FdObserver::OBSERVE_READ);
  RETURN_IF_ERROR(WorkerChannel::SendAttach(channel_->descriptors(media.get()),
                                            WorkerChannel::MediaAccess::kDirect,
                                            SendAtOnce()));
  channel_->CloseDescriptors();
  return Status();
}

Status WorkerTalk::Request(size_t max_words,
                           const WorkerChannel::FillRequest& fill) {
  return Judged(channel_->Request(max_words, fill));
}

Status WorkerTalk::AttachPool(
    std::shared_ptr<worker_protocol::FramePool> pool) {
  pool_ = std::move(pool);
  RETURN_IF_ERROR(WorkerChannel::SendPool(
      pool_->slot_count(), pool_->slot_bytes(), pool_->fd(), SendAtOnce()));
  return Request(worker_protocol::kSmallRequestWords,
                 [](auto request) { request.setAttachPool(); });
}

Status WorkerTalk::Grant() {
  const Status granted = channel_->Grant(*pool_);
  channel_->Wake();
  return Judged(granted);
}

kj::Promise<Status> WorkerTalk::AwaitReply(WorkerChannel::TakeReply take) {
  channel_->ClearWake();
  const auto read = channel_->TryRead();
  if (!read) return Misbehaved(read.error().message);
  if (!*read) {
    return replies_->whenBecomesReadable().then(
        [this, take = std::move(take)]() mutable {
          return AwaitReply(std::move(take));
        });
  }
  // The timer lets the event loop look at its clock and at everybody else. A
  // worker whose next reply is always there already would keep bulkheadd from
  // all deadlines and from all other work.
  return port_.getTimer()
      .afterDelay(0 * kj::SECONDS)
      .then([this, take = std::move(take)]() -> Status {
        auto taken = channel_->Take(take);
        return taken ? *std::move(taken) : Misbehaved(taken.error().message);
      });
}

}  // namespace bulkhead::backend
