// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/worker_link.h"

#include <algorithm>
#include <utility>

#include "core/base/application_limits.h"
#include "core/base/status_macros.h"
#include "core/worker_protocol/reply_validation.h"
#include "ipc/limit_name.h"

namespace bulkhead::worker_link {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

// The longest wait for the end of a worker whose session is closed in order. A
// worker that takes longer is left to bulkheadd.
constexpr milliseconds kClosePatience{500};

}  // namespace

Result<std::unique_ptr<WorkerLink>> WorkerLink::Start(
    std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
    supervisor_link::SessionRequest request, const MediaInput& input,
    std::shared_ptr<supervisor_link::CancelSignal> cancel) {
  const auto asked_at = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(auto channel,
                   worker_protocol::WorkerChannel::Create(
                       worker_protocol::WorkerChannel::Host::kThread));
  std::optional<worker_protocol::ServedMedia> served;
  if (input.fd() < 0) {
    ASSIGN_OR_RETURN(served,
                     worker_protocol::ServedMedia::Create(
                         input.reader(), [cancel] { return cancel->Take(); }));
  }
  request.memory = served ? channel->served_descriptors(served->fd())
                          : channel->descriptors(input.fd());
  request.served = served.has_value();
  auto started = supervisor->OpenSession(request, *cancel);
  if (!started) {
    // A worker may get the memory later, when nobody waits for it any more.
    channel->Close();
    return std::move(started).error();
  }
  channel->CloseDescriptors();
  if (served) served->CloseDescriptor();
  return std::unique_ptr<WorkerLink>(
      new WorkerLink(std::move(supervisor), asked_at, *std::move(started),
                     std::move(channel), std::move(served), std::move(cancel)));
}

Status WorkerLink::CheckAttached() {
  const Status& attached = started_.attached;
  if (attached.ok()) {
    // The worker may have seen the input, whether or not the message is known
    // to have arrived: its death may be the input's fault.
    met_media_ = true;
    last_request_ = "attach the input";
    return Status();
  }
  switch (attached.code()) {
    case Code::kDeadlineExceeded:
      return Kill(Code::kDeadlineExceeded, ExitReport::Kind::kDeadline,
                  TooLongTo("report its lock-down"));
    case Code::kBackendMisbehaved:
      return Misbehaved(attached.message());
    case Code::kBackendLost:
      return Died();
    default:
      return attached;
  }
}

WorkerLink::WorkerLink(
    std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
    std::chrono::steady_clock::time_point asked_at,
    supervisor_link::StartedWorker started,
    std::unique_ptr<worker_protocol::WorkerChannel> channel,
    std::optional<worker_protocol::ServedMedia> served_media,
    std::shared_ptr<supervisor_link::CancelSignal> cancel)
    : supervisor_(std::move(supervisor)),
      deadlines_(supervisor_->deadlines()),
      started_(std::move(started)),
      worker_end_(started_.end.WorkerOf(started_.session)),
      channel_(std::move(channel)),
      cancel_(std::move(cancel)),
      waiter_(channel_->header(), channel_->worker_header(),
              {worker_end_, started_.end.Supervisor(), cancel_->word()}),
      served_media_(std::move(served_media)),
      start_time_(std::chrono::duration_cast<std::chrono::microseconds>(
          std::chrono::steady_clock::now() - asked_at)) {}

WorkerLink::~WorkerLink() {
  // The worker belongs to the process that started it, not to a fork() of it.
  if (supervisor_->process().forked()) return;
  End();
  if (closed_) return;
  channel_->Close();
  supervisor_->CloseSession(started_);
}

bool WorkerLink::End() {
  if (dead_ || started_.shared) return gone_;
  dead_ = true;
  closed_ = true;
  // A worker that is idle ends by that, also while bulkheadd is stopped.
  // bulkheadd kills any other with its session.
  channel_->Close();
  gone_ = Ends(How::CLOSE, std::min(kClosePatience, deadlines_.close))
              .value_or(false);
  return gone_;
}

pid_t WorkerLink::pid() const { return worker_end_.ends() ? 0 : started_.pid; }

Status WorkerLink::Send(
    size_t max_words, const worker_protocol::WorkerChannel::FillRequest& fill) {
  const Status sent = channel_->Request(max_words, fill);
  return sent.ok() ? sent : Misbehaved(sent.message());
}

worker_protocol::StepDeadline WorkerLink::Within(
    milliseconds Deadlines::*step) {
  step_ = step;
  return worker_protocol::StepDeadline(deadlines_.*step, [this] {
    return worker_protocol::ReadRunDelays(pid());
  });
}

milliseconds WorkerLink::patience() const {
  return std::min({deadlines_.open, deadlines_.seek, deadlines_.frame}) / 2;
}

void WorkerLink::Renew(worker_protocol::StepDeadline& deadline,
                       milliseconds Deadlines::*step) {
  step_ = step;
  deadline.Renew(deadlines_.*step);
}

Status WorkerLink::Receive(
    worker_protocol::StepDeadline& deadline, const char* step,
    const std::function<Status(schema::Reply::Reader)>& take) {
  for (;;) {
    ipc::Expected<bool> read = false;
    const auto ready = [&] {
      read = channel_->TryRead();
      return !read || *read;
    };
    auto wake = ipc::Wake::kDeadline;
    // The deadline is asked before the first wait: a worker that always has a
    // reply ready would otherwise never be late.
    while (wake == ipc::Wake::kDeadline && deadline.GoesOn()) {
      // As well before the first wait, for a worker that always has a reply
      // ready, and for a reader of the application that was slow.
      if (cancel_->Take()) return Cancel();
      if (ready()) {
        wake = ipc::Wake::kReady;
        break;
      }
      channel_->Wake();  // for grants that have not woken it
      wake = waiter_.Await(ready, deadline.next());
      // Another thread may have taken the signal.
      if (wake == ipc::Wake::kInterrupted) wake = ipc::Wake::kDeadline;
    }
    if (!read) return Misbehaved(read.error().message);
    if (!*read) {
      if (wake == ipc::Wake::kPeerGone) return Died();
      return Kill(
          Code::kDeadlineExceeded, ExitReport::Kind::kDeadline,
          TooLongTo(step, deadline.used_up()
                              ? worker_protocol::StepDeadline::kMostTimeouts
                              : 1));
    }
    bool answered = true;
    auto status = channel_->Take([&](schema::Reply::Reader reply_untrusted) {
      answered = !served_media_ || !reply_untrusted.isRead();
      return answered ? take(reply_untrusted)
                      : Serve(reply_untrusted.getRead(), deadline);
    });
    if (!status) return Misbehaved(status.error().message);
    if (answered && served_media_) served_media_->Progressed();
    if (answered || !status->ok()) return *std::move(status);
  }
}

Status WorkerLink::Serve(schema::Read::Reader read_untrusted,
                         worker_protocol::StepDeadline& deadline) {
  const auto asked = worker_protocol::StepDeadline::Clock::now();
  const Status served = served_media_->Serve(read_untrusted.getOffset(),
                                             read_untrusted.getSerial());
  if (served.code() == Code::kBackendMisbehaved) {
    return Misbehaved(served.message());
  }
  // The worker waits for bytes that it will not get. It is not to blame, so it
  // is not killed here, but it is of no further use.
  spent_ = !served.ok();
  RETURN_IF_ERROR(served);
  deadline.Extend(worker_protocol::StepDeadline::Clock::now() - asked);
  channel_->Wake();
  return Status();
}

Status WorkerLink::AttachPool(
    std::shared_ptr<worker_protocol::FramePool> pool) {
  last_request_ = "attach the frame pool";
  pool_ = std::move(pool);
  Status sent = SendPool();
  // A grant would name a slot of the new pool, and the worker would write into
  // the old one.
  spent_ = spent_ || (!sent.ok() && sent.code() != Code::kNotFound);
  return sent;
}

Status WorkerLink::SendPool() {
  const worker_protocol::FramePool::Keeper keeper = pool_->keeper();
  if (pool_->fd() < 0 && keeper.supervisor != started_.generation) {
    return Status(Code::kNotFound, "nobody has the frames any more");
  }
  const Status sent = supervisor_->AttachPool(started_, pool_->slot_count(),
                                              pool_->slot_bytes(), pool_->fd(),
                                              keeper.session, *cancel_);
  if (sent.code() == Code::kCancelled) return Cancel();
  if (sent.code() == Code::kBackendLost) return Died();
  RETURN_IF_ERROR(sent);
  pool_->GiveTo(
      {.supervisor = started_.generation, .session = started_.session});
  worker_protocol::StepDeadline deadline = Within(&Deadlines::worker_start);
  RETURN_IF_ERROR(Send(worker_protocol::kSmallRequestWords,
                       [](auto request) { request.setAttachPool(); }));
  return Receive(deadline, "map the frame pool",
                 [&](schema::Reply::Reader reply_untrusted) -> Status {
                   if (reply_untrusted.isFailed()) {
                     return FailureOf(reply_untrusted.getFailed());
                   }
                   return reply_untrusted.isPoolAttached()
                              ? Status()
                              : Misbehaved("it did not attach the pool");
                 });
}

void WorkerLink::AllocateFirstSlot() {
  if (pool_->allocated_count() == 0) (void)pool_->Grow();
}

Status WorkerLink::GrantFreeSlots(uint64_t wanted) {
  if (wanted == 0) return Status();
  const auto grant = [this] {
    const Status granted = channel_->Grant(*pool_);
    return granted.ok() ? granted : Misbehaved(granted.message());
  };
  const auto granted = [this] { return pool_->ledger().granted_count(); };
  // The worker gets what is free first, and decodes while the kernel allocates
  // more. It uses one slot while the application reads another.
  RETURN_IF_ERROR(grant());
  bool grows = granted() < wanted;
  while (grows) {
    ASSIGN_OR_RETURN(grows, pool_->Grow());
    RETURN_IF_ERROR(grant());
    grows = grows && granted() < std::min<uint64_t>(wanted, 2);
  }
  if (granted() > 0) return Status();
  return Status(Code::kResourceExhausted,
                "the application holds all " +
                    std::to_string(pool_->ledger().leased_count()) +
                    " frames of this session; drop some, copy the pixels of "
                    "those that it keeps, or raise " +
                    ipc::LimitName("frame_slots"));
}

Status WorkerLink::GrantAnotherSlot(uint32_t grants) {
  if (channel_->grants() != grants) return Status();
  ASSIGN_OR_RETURN(const bool grows, pool_->Grow());
  if (grows) {
    const Status granted = channel_->Grant(*pool_);
    channel_->Wake();
    return granted.ok() ? granted : Misbehaved(granted.message());
  }
  return Status(Code::kResourceExhausted,
                "the application holds " +
                    std::to_string(pool_->ledger().leased_count()) +
                    " frames of this session, and the decoder refers to its "
                    "other slots; drop some, copy the planes of those that it "
                    "keeps, or raise " +
                    ipc::LimitName("frame_slots"));
}

Status WorkerLink::FailureOf(schema::Failed::Reader failed_untrusted) {
  const auto failure_untrusted = failed_untrusted.getFailure();
  auto claimed = worker_protocol::ValidateFailure(failure_untrusted);
  if (!claimed) {
    const std::string& why = claimed.error().message();
    return failure_untrusted.getCode() ==
                   ipc::schema::ErrorCode::BACKEND_MISBEHAVED
               ? BrokeAbi(why)
               : Misbehaved(why);
  }
  const Status& failure = claimed->status;
  if (failure.code() == Code::kResourceExhausted &&
      Ends(How::LACKING, deadlines_.close).value_or(false)) {
    return Died();
  }
  // The limits of the application are named in place of ours (NamingLimits).
  const bool theirs = SaysExhausted(failure.message()) && !LowLimits().empty();
  if (failure.code() != Code::kResourceExhausted || theirs ||
      failure.message().find("(--limit ") != std::string::npos) {
    return std::move(claimed->status);
  }
  return Status(failure.code(), failure.message() +
                                    "; if its memory was short, raise " +
                                    ipc::LimitName("worker_bytes") +
                                    ", if its pictures are too large, " +
                                    ipc::LimitName("frame_pixels"));
}

Result<bool> WorkerLink::Ends(How how, milliseconds patience) const {
  // The word that the worker itself owns is not believed.
  if (worker_end_.ends() && how != How::CLOSE) return true;
  auto ended = supervisor_->EndWorker(started_, how, patience,
                                      how == How::CLOSE ? nullptr : &*cancel_);
  // Whoever asks next for the signal ends the call of the application.
  if (!ended && ended.error().code() == Code::kCancelled) cancel_->Raise();
  return ended;
}

std::string WorkerLink::TooLongTo(const char* step, int times) const {
  return std::string("took too long to ") + step + ", more than " +
         (times > 1 ? std::to_string(times) + " times " : "") + "the " +
         std::to_string((deadlines_.*step_).count()) + " ms of " +
         worker_protocol::NameOf(step_);
}

Status WorkerLink::Died() {
  dead_ = true;
  // The kernel says so a moment before the process is dead, so this waits for
  // the end. A process that said so itself and lives on breaks the protocol.
  // If bulkheadd is gone, the worker ends with it, and nobody can say when.
  const auto ended = Ends(How::AWAIT, deadlines_.close);
  gone_ = ended.value_or(false);
  if (ended && !*ended) {
    return Misbehaved("it reported its own end but lives on");
  }
  return Status(Code::kBackendLost, "the worker of device " + started_.device +
                                        " (backend " + started_.backend +
                                        ") died");
}

Status WorkerLink::Cancel() {
  spent_ = true;
  return supervisor_link::Cancelled();
}

Status WorkerLink::Kill(Code code, ExitReport::Kind kind, std::string message) {
  dead_ = true;
  killed_for_ = kind;
  killed_because_ = "it " + message;
  gone_ = Ends(How::KILL, deadlines_.close).value_or(false);
  return Status(code, "the worker of device " + started_.device + " (backend " +
                          started_.backend + ") " + std::move(message));
}

Status WorkerLink::Misbehaved(const std::string& what) {
  return Kill(Code::kBackendMisbehaved, ExitReport::Kind::kProtocolViolation,
              "broke the protocol: " + what);
}

Status WorkerLink::BrokeAbi(const std::string& report) {
  claims_cause_ = true;
  return Kill(Code::kBackendMisbehaved, ExitReport::Kind::kProtocolViolation,
              "reports that its backend breaks bulkhead_backend.h: " + report);
}

supervisor_link::ExitVerdict WorkerLink::TakeExit(
    supervisor_link::ObservedExit seen) {
  using How = supervisor_link::ObservedExit::How;
  seen.met_media = met_media_;
  if (killed_for_ == ExitReport::Kind::kDeadline) seen.how = How::kLate;
  if (killed_for_ == ExitReport::Kind::kProtocolViolation)
    seen.how = How::kLied;
  if (seen.how != How::kDied) {
    seen.cause = killed_because_;
    seen.claims_cause = claims_cause_;
  }
  seen.last_message = last_request_;
  seen.request.deadline_ms = (deadlines_.*step_).count();
  supervisor_link::ExitVerdict exit =
      supervisor_->SessionExit(started_, seen, *cancel_);
  // bulkheadd reports the SIGKILL that the link sent, not the reason for it.
  if (seen.how != How::kDied) exit.report.kind = killed_for_;
  return exit;
}

}  // namespace bulkhead::worker_link
