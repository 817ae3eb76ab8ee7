// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/worker_link.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/application_limits.h"
#include "core/base/from_ipc.h"
#include "core/base/pidfd.h"
#include "core/base/status_macros.h"
#include "core/control/crash_note.h"
#include "core/worker_protocol/reply_validation.h"
#include "ipc/capnp_read.h"
#include "ipc/limit_name.h"
#include "ipc/message_socket.h"

namespace bulkhead::session {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

// Returns the crash note of a dead worker, or an empty claim if there is none.
CrashClaim TakeCrashNote(int socket) {
  auto received = ipc::TryReceiveMessage(socket, 0);
  if (!received) return {};
  auto* message = std::get_if<ipc::ReceivedMessage>(&*received);
  if (message == nullptr) return {};
  auto claim = ipc::ReadCatching([&]() -> ipc::Expected<CrashClaim> {
    auto note = message->root<ipc::schema::CrashNote>();
    if (!note) return tl::unexpected(std::move(note).error());
    return ReadCrashNote(*note);
  });
  return claim ? *std::move(claim) : CrashClaim();
}

}  // namespace

Result<std::unique_ptr<WorkerLink>> WorkerLink::Start(
    std::shared_ptr<SupervisorLink> supervisor, const SessionRequest& request,
    std::shared_ptr<CancelSignal> cancel) {
  const auto asked_at = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(auto sockets, FromIpc(ipc::MakeSocketPair()));
  ASSIGN_OR_RETURN(
      StartedWorker started,
      supervisor->OpenSession(request, sockets.second.get(), *cancel));
  // Only the worker may hold its end: the host sees the worker's death when the
  // last copy is closed.
  sockets.second.reset();
  ASSIGN_OR_RETURN(auto channel, WorkerChannel::Create());
  return std::unique_ptr<WorkerLink>(new WorkerLink(
      std::move(supervisor), asked_at, std::move(started),
      std::move(sockets.first), std::move(channel), std::move(cancel)));
}

Status WorkerLink::Attach(const MediaInput& input) {
  StepDeadline deadline = Within(&Deadlines::worker_start);
  const auto receive = [&] {
    return ipc::ReceiveMessage(socket_.get(), 0,
                               deadline.next().OrReadable(cancel_->fd()));
  };
  auto hello = receive();
  const auto late = [&hello] {
    return !hello && hello.error().code == ipc::Code::kDeadlineExceeded;
  };
  while (late() && deadline.GoesOn()) {
    if (cancel_->Take()) return Cancel();
    hello = receive();
  }
  if (!hello) {
    if (late()) {
      return Kill(Code::kDeadlineExceeded, ExitReport::Kind::kDeadline,
                  TooLongTo("report its lock-down"));
    }
    return Misbehaved(hello.error().message);
  }
  if (!*hello) return Died();
  const Status valid = ValidateHello(**hello, started_.shared);
  if (valid.code() == Code::kResourceExhausted) {
    return valid.WithContext("the worker of device " + started_.device +
                             ", which serves all streams of backend " +
                             started_.backend + ", cannot serve another");
  }
  if (!valid.ok()) return Misbehaved(valid.message());
  // The hello is the worker's own claim. bulkheadd looks at the process itself,
  // and only then does the worker get media.
  const Status confirmed = supervisor_->ConfirmSession(started_, *cancel_);
  if (confirmed.code() == Code::kBackendLost) return Died();
  if (confirmed.code() == Code::kCancelled) return confirmed;
  RETURN_IF_ERROR(confirmed.WithContext("the worker of device " +
                                        started_.device + " (backend " +
                                        started_.backend + ") was refused"));
  start_time_ = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - asked_at_);

  int media_fd = input.fd();
  auto access = WorkerChannel::MediaAccess::kDirect;
  if (media_fd < 0) {
    ASSIGN_OR_RETURN(served_media_, ServedMedia::Create(input.reader(), [this] {
                       return cancel_->Take();
                     }));
    media_fd = served_media_->fd();
    access = WorkerChannel::MediaAccess::kServed;
  }
  // From here on the worker may have seen the input, whether or not the message
  // is known to have arrived: its death may be the input's fault.
  met_media_ = true;
  last_request_ = "attach the input";
  return channel_->SendMemory(
      media_fd, access,
      SendUntil(ipc::Deadline::After(supervisor_->deadlines().worker_start)));
}

WorkerChannel::SendMessage WorkerLink::SendUntil(ipc::Deadline deadline) {
  return [this, deadline](capnp::MessageBuilder& message,
                          std::span<const int> descriptors) {
    auto sent = ipc::SendMessage(socket_.get(), message, descriptors, deadline);
    if (sent) return Status();
    // A worker cannot cause that: others have used up what it takes.
    return sent.error().code == ipc::Code::kResourceExhausted
               ? FromIpc(std::move(sent).error())
               : Died();
  };
}

WorkerLink::WorkerLink(std::shared_ptr<SupervisorLink> supervisor,
                       std::chrono::steady_clock::time_point asked_at,
                       StartedWorker started, ipc::UniqueFd socket,
                       std::unique_ptr<WorkerChannel> channel,
                       std::shared_ptr<CancelSignal> cancel)
    : supervisor_(std::move(supervisor)),
      started_(std::move(started)),
      socket_(std::move(socket)),
      channel_(std::move(channel)),
      cancel_(std::move(cancel)),
      waiter_(channel_->header(), channel_->wake_fd(), started_.pidfd.get()),
      asked_at_(asked_at) {}

WorkerLink::~WorkerLink() {
  // The worker belongs to the process that started it, not to a fork() of it.
  if (!supervisor_->CheckProcess().ok()) return;
  End();
  supervisor_->CloseSession(started_);
}

bool WorkerLink::End() {
  if (!dead_ && !started_.shared) {
    (void)Kill(Code::kBackendLost, ExitReport::Kind::kUnknown, "closed");
  }
  return gone_;
}

pid_t WorkerLink::pid() const { return PidOf(started_.pidfd.get()); }

Status WorkerLink::Send(size_t max_words,
                        const WorkerChannel::FillRequest& fill) {
  const Status sent = channel_->Request(max_words, fill);
  return sent.ok() ? sent : Misbehaved(sent.message());
}

StepDeadline WorkerLink::Within(milliseconds Deadlines::*step) {
  step_ = step;
  return StepDeadline(supervisor_->deadlines().*step,
                      [this] { return ReadRunDelays(pid()); });
}

milliseconds WorkerLink::patience() const {
  const Deadlines& deadlines = supervisor_->deadlines();
  return std::min({deadlines.open, deadlines.seek, deadlines.frame}) / 2;
}

void WorkerLink::Renew(StepDeadline& deadline, milliseconds Deadlines::*step) {
  step_ = step;
  deadline.Renew(supervisor_->deadlines().*step);
}

Status WorkerLink::Receive(
    StepDeadline& deadline, const char* step,
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
      wake = waiter_.Await(ready, deadline.next().OrReadable(cancel_->fd()));
    }
    if (!read) return Misbehaved(read.error().message);
    if (!*read) {
      if (wake == ipc::Wake::kPeerGone) return Died();
      return Kill(
          Code::kDeadlineExceeded, ExitReport::Kind::kDeadline,
          TooLongTo(step,
                    deadline.used_up() ? StepDeadline::kMostTimeouts : 1));
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
                         StepDeadline& deadline) {
  const auto asked = StepDeadline::Clock::now();
  const Status served = served_media_->Serve(read_untrusted.getOffset(),
                                             read_untrusted.getSerial());
  if (served.code() == Code::kBackendMisbehaved) {
    return Misbehaved(served.message());
  }
  // The worker waits for bytes that it will not get. It is not to blame, so it
  // is not killed here, but it is of no further use.
  spent_ = !served.ok();
  RETURN_IF_ERROR(served);
  deadline.Extend(StepDeadline::Clock::now() - asked);
  channel_->Wake();
  return Status();
}

Status WorkerLink::AttachPool(std::shared_ptr<FramePool> pool) {
  last_request_ = "attach the frame pool";
  pool_ = std::move(pool);
  StepDeadline deadline = Within(&Deadlines::worker_start);
  RETURN_IF_ERROR(WorkerChannel::SendPool(*pool_, SendUntil(deadline.next())));
  RETURN_IF_ERROR(
      Send(kSmallRequestWords, [](auto request) { request.setAttachPool(); }));
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
  auto claimed = ValidateFailure(failure_untrusted);
  if (!claimed) {
    const std::string& why = claimed.error().message();
    return failure_untrusted.getCode() ==
                   ipc::schema::ErrorCode::BACKEND_MISBEHAVED
               ? BrokeAbi(why)
               : Misbehaved(why);
  }
  const Status& failure = claimed->status;
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

bool WorkerLink::AwaitDeath() const {
  const auto deadline = ipc::Deadline::After(supervisor_->deadlines().close);
  for (;;) {
    pollfd poll{.fd = started_.pidfd.get(), .events = POLLIN, .revents = 0};
    const timespec left = deadline.remaining_timespec();
    const int ready = ::ppoll(&poll, 1, &left, nullptr);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

std::string WorkerLink::TooLongTo(const char* step, int times) const {
  return std::string("took too long to ") + step + ", more than " +
         (times > 1 ? std::to_string(times) + " times " : "") + "the " +
         std::to_string((supervisor_->deadlines().*step_).count()) + " ms of " +
         NameOf(step_);
}

Status WorkerLink::Died() {
  dead_ = true;
  // The socket closes a moment before the process is dead, so this waits for
  // the end. A process that closed its socket and lives on breaks the protocol.
  gone_ = AwaitDeath();
  if (!gone_) return Misbehaved("it closed its socket but lives on");
  return Status(Code::kBackendLost, "the worker of device " + started_.device +
                                        " (backend " + started_.backend +
                                        ") died");
}

Status WorkerLink::Cancel() {
  spent_ = true;
  return Cancelled();
}

Status WorkerLink::Kill(Code code, ExitReport::Kind kind, std::string message) {
  dead_ = true;
  killed_for_ = kind;
  killed_because_ = "it " + message;
  ::syscall(SYS_pidfd_send_signal, started_.pidfd.get(), SIGKILL, nullptr, 0);
  gone_ = AwaitDeath();
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

ExitVerdict WorkerLink::TakeExit(ObservedExit seen) {
  using How = ObservedExit::How;
  seen.met_media = met_media_;
  if (killed_for_ == ExitReport::Kind::kDeadline) seen.how = How::kLate;
  if (killed_for_ == ExitReport::Kind::kProtocolViolation)
    seen.how = How::kLied;
  if (seen.how != How::kDied) {
    seen.cause = killed_because_;
    seen.claims_cause = claims_cause_;
  }
  seen.last_message = last_request_;
  seen.request.deadline_ms = (supervisor_->deadlines().*step_).count();
  // The hello was received before the worker met media, so that only a note can
  // be left in the socket.
  if (met_media_) seen.claim = TakeCrashNote(socket_.get());
  ExitVerdict exit = supervisor_->SessionExit(started_, seen, *cancel_);
  // bulkheadd reports the SIGKILL that the link sent, not the reason for it.
  if (seen.how != How::kDied) exit.report.kind = killed_for_;
  AddClaim(std::move(seen.claim), exit.report);
  return exit;
}

}  // namespace bulkhead::session
