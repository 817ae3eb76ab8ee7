// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/worker_link.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/pidfd.h"
#include "core/base/status_macros.h"
#include "core/control/crash_note.h"
#include "core/worker_protocol/reply_validation.h"
#include "ipc/capnp_read.h"
#include "ipc/limit_name.h"
#include "ipc/message_socket.h"
#include "ipc/protocol_version.h"

namespace bulkhead::session {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

// Of a dead worker, if it has left one.
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
    std::shared_ptr<SupervisorLink> supervisor, const SessionRequest& request) {
  const auto asked_at = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(auto sockets, FromIpc(ipc::MakeSocketPair()));
  ASSIGN_OR_RETURN(StartedWorker started,
                   supervisor->OpenSession(request, sockets.second.get()));
  sockets.second.reset();
  ASSIGN_OR_RETURN(auto requests, FromIpc(ipc::OwnedRegion::CreateWritable(
                                      "bulkhead-requests",
                                      ipc::RingGeometry::kRequestRegionBytes)));
  ASSIGN_OR_RETURN(auto replies, FromIpc(ipc::OwnedRegion::CreateReadable(
                                     "bulkhead-replies",
                                     ipc::RingGeometry::kReplyRegionBytes)));
  ASSIGN_OR_RETURN(auto wake_worker, FromIpc(ipc::MakeEventFd()));
  ASSIGN_OR_RETURN(auto wake_host, FromIpc(ipc::MakeEventFd()));
  return std::unique_ptr<WorkerLink>(new WorkerLink(
      std::move(supervisor), asked_at, std::move(started),
      std::move(sockets.first), std::move(requests), std::move(replies),
      std::move(wake_worker), std::move(wake_host)));
}

Status WorkerLink::Attach(const MediaInput& input) {
  StepDeadline deadline = Within(&Deadlines::worker_start);
  auto hello = ipc::ReceiveMessage(socket_.get(), 0, deadline.next());
  const auto late = [&hello] {
    return !hello && hello.error().code == ipc::Code::kDeadlineExceeded;
  };
  while (late() && deadline.GoesOn()) {
    hello = ipc::ReceiveMessage(socket_.get(), 0, deadline.next());
  }
  if (!hello) {
    if (late()) {
      return Kill(Code::kDeadlineExceeded, ExitReport::Kind::kDeadline,
                  TooLongTo("report its lock-down"));
    }
    return Misbehaved(hello.error().message);
  }
  if (!*hello) return Died();
  auto version = ipc::ReadCatching([&]() -> ipc::Expected<uint32_t> {
    auto root = (*hello)->root<schema::Hello>();
    if (!root) return tl::unexpected(root.error());
    return root->getProtocolVersion();
  });
  if (!version || *version != ipc::kProtocolVersion) {
    return Misbehaved("its hello is not of this protocol version");
  }
  const Status confirmed = supervisor_->ConfirmSession(started_);
  if (confirmed.code() == Code::kBackendLost) return Died();
  RETURN_IF_ERROR(confirmed.WithContext("the worker of device " +
                                        started_.device + " (backend " +
                                        started_.backend + ") was refused"));
  start_time_ = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - asked_at_);

  capnp::MallocMessageBuilder message;
  auto attach = message.initRoot<schema::Attach>();
  int media_fd = input.fd();
  if (media_fd >= 0) {
    attach.setSession();
  } else {
    ASSIGN_OR_RETURN(served_media_, ServedMedia::Create(input.reader()));
    media_fd = served_media_->fd();
    attach.setServedSession();
  }
  const int descriptors[] = {requests_.fd(), replies_.fd(), wake_worker_.get(),
                             wake_host_.get(), media_fd};
  met_media_ = true;
  last_request_ = "attach the input";
  const auto sent = ipc::SendMessage(
      socket_.get(), message, descriptors,
      ipc::Deadline::After(supervisor_->deadlines().worker_start));
  return sent ? Status() : Died();
}

WorkerLink::WorkerLink(std::shared_ptr<SupervisorLink> supervisor,
                       std::chrono::steady_clock::time_point asked_at,
                       StartedWorker started, ipc::UniqueFd socket,
                       ipc::OwnedRegion requests, ipc::OwnedRegion replies,
                       ipc::UniqueFd wake_worker, ipc::UniqueFd wake_host)
    : supervisor_(std::move(supervisor)),
      started_(std::move(started)),
      socket_(std::move(socket)),
      requests_(std::move(requests)),
      replies_(std::move(replies)),
      wake_worker_(std::move(wake_worker)),
      wake_host_(std::move(wake_host)),
      writer_(requests_.writable_bytes(), ipc::HeaderOf(replies_.bytes()),
              ipc::RingGeometry::kRequestRingBytes),
      reader_(replies_.bytes(), ipc::HeaderOf(requests_.writable_bytes()),
              ipc::RingGeometry::kReplyRingBytes),
      waiter_(ipc::HeaderOf(requests_.writable_bytes()), wake_host_.get(),
              started_.pidfd.get()),
      asked_at_(asked_at) {}

WorkerLink::~WorkerLink() {
  // A forked process has no worker to end.
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

Status WorkerLink::Send(
    size_t max_words,
    const std::function<void(schema::Request::Builder)>& fill) {
  auto sent = writer_.TryWrite(max_words, [&](capnp::MessageBuilder& message) {
    fill(message.initRoot<schema::Request>());
  });
  if (!sent) {
    // We never have so many requests in flight that an honest worker could
    // leave the ring full.
    return Misbehaved(sent.error().message);
  }
  ipc::WakePeer(ipc::HeaderOf(replies_.bytes()), wake_worker_.get());
  return Status();
}

StepDeadline WorkerLink::Within(milliseconds Deadlines::*step) {
  step_ = step;
  return StepDeadline(supervisor_->deadlines().*step,
                      [this] { return ReadRunDelays(pid()); });
}

Status WorkerLink::Receive(
    StepDeadline& deadline, const char* step,
    const std::function<Status(schema::Reply::Reader)>& take) {
  for (;;) {
    std::optional<ipc::CopiedMessage> message;
    std::optional<ipc::Error> error;
    const auto ready = [&] {
      auto read = reader_.TryRead();
      if (!read) {
        error = std::move(read).error();
      } else if (*read) {
        message.emplace(*std::move(*read));
      }
      return message || error;
    };
    auto wake = ipc::Wake::kDeadline;
    // Asked first for a worker that is never at a loss for a reply.
    while (wake == ipc::Wake::kDeadline && deadline.GoesOn()) {
      wake = waiter_.Await(ready, deadline.next());
    }
    ipc::WakePeer(ipc::HeaderOf(replies_.bytes()), wake_worker_.get(),
                  ipc::WakeReason::kRoom);
    if (error) return Misbehaved(error->message);
    if (!message) {
      if (wake == ipc::Wake::kPeerGone) return Died();
      return Kill(Code::kDeadlineExceeded, ExitReport::Kind::kDeadline,
                  TooLongTo(step));
    }
    bool answered = true;
    auto status = ipc::ReadCatching([&]() -> Status {
      const auto reply = message->root<schema::Reply>();
      answered = !served_media_ || !reply.isRead();
      return answered ? take(reply) : Serve(reply.getRead(), deadline);
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
  spent_ = !served.ok();
  RETURN_IF_ERROR(served);
  deadline.Extend(StepDeadline::Clock::now() - asked);
  ipc::WakePeer(ipc::HeaderOf(replies_.bytes()), wake_worker_.get());
  return Status();
}

Status WorkerLink::AttachPool(std::shared_ptr<FramePool> pool) {
  last_request_ = "attach the frame pool";
  pool_ = std::move(pool);
  StepDeadline deadline = Within(&Deadlines::worker_start);
  capnp::MallocMessageBuilder message;
  auto attach = message.initRoot<schema::Attach>().initFramePool();
  attach.setSlotCount(pool_->slot_count());
  attach.setSlotBytes(pool_->slot_bytes());
  const int descriptors[] = {pool_->fd()};
  if (!ipc::SendMessage(socket_.get(), message, descriptors, deadline.next())) {
    return Died();
  }
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

Status WorkerLink::GrantFreeSlots() {
  while (const auto grant = pool_->ledger().TakeForGrant()) {
    RETURN_IF_ERROR(
        Send(kSmallRequestWords, [&](schema::Request::Builder request) {
          auto builder = request.initGrant();
          builder.setSlot(grant->slot);
          builder.setGeneration(grant->generation);
        }));
  }
  if (pool_->ledger().granted_count() > 0) return Status();
  return Status(Code::kResourceExhausted,
                "the application holds all " +
                    std::to_string(pool_->slot_count()) +
                    " frames of this session; destroy some, take snapshots, "
                    "or raise " +
                    ipc::LimitName("frame_slots"));
}

Result<std::shared_ptr<FrameLease>> WorkerLink::AdoptSlotIfValid(
    uint32_t slot_untrusted, uint32_t generation_untrusted) {
  if (!pool_) return Misbehaved("it published a frame before it had memory");
  if (auto published =
          pool_->ledger().Publish(slot_untrusted, generation_untrusted);
      !published) {
    return Misbehaved(published.error().message);
  }
  return std::make_shared<FrameLease>(pool_, slot_untrusted);
}

Status WorkerLink::FailureOf(schema::Failed::Reader failed_untrusted) {
  auto claimed = ValidateFailure(failed_untrusted.getFailure());
  if (!claimed) return Misbehaved(claimed.error().message());
  const Status& failure = claimed->status;
  if (failure.code() != Code::kResourceExhausted ||
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

std::string WorkerLink::TooLongTo(const char* step) const {
  return std::string("took too long to ") + step + ", more than the " +
         std::to_string((supervisor_->deadlines().*step_).count()) + " ms of " +
         NameOf(step_);
}

Status WorkerLink::Died() {
  dead_ = true;
  // The socket can be seen closed a moment before the process is dead.
  gone_ = AwaitDeath();
  if (!gone_) return Misbehaved("it closed its socket but lives on");
  return Status(Code::kBackendLost, "the worker of device " + started_.device +
                                        " (backend " + started_.backend +
                                        ") died");
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
              "broke the protocol: " + what + "; report it to its vendor");
}

ExitVerdict WorkerLink::TakeExit(ObservedExit seen) {
  using How = ObservedExit::How;
  seen.met_media = met_media_;
  if (killed_for_ == ExitReport::Kind::kDeadline) seen.how = How::kLate;
  if (killed_for_ == ExitReport::Kind::kProtocolViolation)
    seen.how = How::kLied;
  if (seen.how != How::kDied) seen.cause = killed_because_;
  seen.last_message = last_request_;
  seen.request.deadline_ms = (supervisor_->deadlines().*step_).count();
  // Its hello was taken before it met media, so only this can be left.
  if (met_media_) seen.claim = TakeCrashNote(socket_.get());
  ExitVerdict exit = supervisor_->SessionExit(started_, seen);
  if (seen.how != How::kDied) exit.report.kind = killed_for_;
  AddClaim(std::move(seen.claim), exit.report);
  return exit;
}

}  // namespace bulkhead::session
