// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/health_check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <span>
#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/control/exit_report.h"
#include "core/include/bulkhead/host.h"
#include "core/supervisor/backend/built_in_clip.h"
#include "core/supervisor/blame/process_exit.h"
#include "core/worker_protocol/reply_validation.h"
#include "ipc/capnp_read.h"
#include "ipc/deadline.h"
#include "ipc/frame_geometry.h"
#include "ipc/message_socket.h"
#include "ipc/protocol_version.h"
#include "ipc/region_header.h"
#include "ipc/waiter.h"

namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

constexpr size_t kRequestWords = 128;
constexpr uint32_t kSlots = 2;
constexpr uint32_t kEpoch = 1;
// Its socket closes a moment before its end is reported.
constexpr milliseconds kEndPatience{500};

Status Misbehaved(const std::string& what) {
  return Status(Code::kBackendMisbehaved, "it broke the protocol: " + what);
}

constexpr uint64_t kSoundSlotBytes = 4096;
static_assert(kSoundSlotBytes >= sizeof(float) * kBuiltInSoundSamples);

Result<ipc::UniqueFd> Seal(const char* name, std::span<const std::byte> bytes) {
  ipc::UniqueFd clip(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!clip ||
      ::write(clip.get(), bytes.data(), bytes.size()) !=
          static_cast<ssize_t>(bytes.size()) ||
      ::lseek(clip.get(), 0, SEEK_SET) != 0 ||
      ::fcntl(clip.get(), F_ADD_SEALS,
              F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
    return FromIpc(ipc::FailErrno(ipc::Code::kResourceExhausted,
                                  "the built-in clip", errno)
                       .value());
  }
  return clip;
}

}  // namespace

// The memory that the worker and we share; see session/worker_link.h.
struct HealthCheck::Session {
  Session(kj::UnixEventPort& port, ipc::OwnedRegion own_requests,
          ipc::OwnedRegion own_replies, ipc::UniqueFd to_worker,
          ipc::UniqueFd to_us)
      : requests(std::move(own_requests)),
        replies(std::move(own_replies)),
        wake_worker(std::move(to_worker)),
        wake_us(std::move(to_us)),
        writer(requests.writable_bytes(), worker_header(),
               ipc::RingGeometry::kRequestRingBytes),
        reader(replies.bytes(), ipc::HeaderOf(requests.writable_bytes()),
               ipc::RingGeometry::kReplyRingBytes),
        observer(port, wake_us.get(),
                 kj::UnixEventPort::FdObserver::OBSERVE_READ) {
    // All the time: then every reply writes the descriptor.
    ipc::HeaderOf(requests.writable_bytes())
        ->sleeping.store(static_cast<uint32_t>(ipc::WakeReason::kRecord));
  }

  const ipc::RegionHeader* worker_header() const {
    return ipc::HeaderOf(replies.bytes());
  }

  const ipc::OwnedRegion requests;
  const ipc::OwnedRegion replies;
  const ipc::UniqueFd wake_worker;
  const ipc::UniqueFd wake_us;
  ipc::RingWriter writer;
  ipc::RingReader reader;
  kj::UnixEventPort::FdObserver observer;
};

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
  kind_ = kind;
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

kj::Promise<Status> HealthCheck::AwaitDeath() {
  return incarnation_->AwaitEnd(worker_->pid, kEndPatience)
      .then([](const ProcessExit& end) {
        return Status(Code::kBackendLost,
                      "its process died: " + DescribeExit(ToReport(end)));
      });
}

kj::Promise<Status> HealthCheck::Decode(uint32_t device) {
  return socket_->Receive(0).then([this,
                                   device](auto hello) -> kj::Promise<Status> {
    if (!hello) return FromIpc(std::move(hello).error());
    if (!*hello) return AwaitDeath();
    auto root = (*hello)->template root<schema::Hello>();
    if (!root || root->getProtocolVersion() != ipc::kProtocolVersion) {
      return Misbehaved("its hello is not of this protocol version");
    }
    if (Status status = incarnation_->ConfirmWorker(*worker_); !status.ok()) {
      return status;
    }
    if (Status status = Attach(); !status.ok()) return status;
    if (Status asked = Ask([&](schema::Request::Builder request) {
          auto open = request.initOpen();
          open.setKind(audio() ? schema::StreamKind::AUDIO
                               : schema::StreamKind::VIDEO);
          open.setNameHint(audio() ? kBuiltInSoundName : kBuiltInClipName);
          open.setMediaBytes(static_cast<int64_t>(
              audio() ? BuiltInSound().size() : BuiltInClip().size()));
          open.setDevice(device);
          open.setStreamIndex(-1);
          open.setThreads(1);
          open.setIncarnation(1);
          open.setMaxFramePixels(Limits().frame_pixels);
          open.setMaxStreams(Limits().streams);
          open.setMaxPacketBytes(Limits().packet_bytes);
        });
        !asked.ok()) {
      return asked;
    }
    // All that may come now is the note of a crash.
    auto died = socket_->Receive(0).then([this](auto) { return AwaitDeath(); });
    return AwaitReply([this](Reply::Reader reply_untrusted) {
             return JudgeOpened(reply_untrusted);
           })
        .then([this](Status status) -> kj::Promise<Status> {
          if (!status.ok()) return status;
          return Play();
        })
        .exclusiveJoin(kj::mv(died));
  });
}

Status HealthCheck::JudgeOpened(Reply::Reader reply_untrusted) {
  const Status other(Code::kBackendUnavailable,
                     "it takes it for one of another shape");
  if (audio()) {
    if (!reply_untrusted.isOpenedAudio()) return FailureOf(reply_untrusted);
    const auto opened_untrusted = reply_untrusted.getOpenedAudio();
    return opened_untrusted.getPublishedRate() == kBuiltInSoundRate &&
                   opened_untrusted.getPublishedChannels() == 1
               ? Status()
               : other;
  }
  if (!reply_untrusted.isOpened()) return FailureOf(reply_untrusted);
  const auto opened =
      session::ValidateOpened(reply_untrusted.getOpened(), Limits());
  if (!opened) return Misbehaved(opened.error().message());
  return opened->width == kBuiltInClipWidth &&
                 opened->height == kBuiltInClipHeight
             ? Status()
             : other;
}

kj::Promise<Status> HealthCheck::Play() {
  if (Status attached = AttachPool(); !attached.ok()) return attached;
  return AwaitReply([this](Reply::Reader reply_untrusted) {
           return reply_untrusted.isPoolAttached() ? Status()
                                                   : FailureOf(reply_untrusted);
         })
      .then([this](Status status) -> kj::Promise<Status> {
        if (!status.ok()) return status;
        status = Ask([this](schema::Request::Builder request) {
          auto play = request.initPlay();
          play.setEpoch(kEpoch);
          audio() ? play.getStart().setSample(0)
                  : play.getStart().setBeginning();
          play.setMaxFrames(audio() ? kBuiltInSoundSamples : 1);
        });
        while (const auto grant = pool_->ledger().TakeForGrant()) {
          if (!status.ok()) break;
          status = Ask([&](schema::Request::Builder request) {
            auto builder = request.initGrant();
            builder.setSlot(grant->slot);
            builder.setGeneration(grant->generation);
          });
        }
        if (!status.ok()) return status;
        return AwaitOutput();
      });
}

kj::Promise<Status> HealthCheck::AwaitOutput() {
  auto more = std::make_shared<bool>(false);
  return AwaitReply([this, more](Reply::Reader reply_untrusted) {
           // How a pass goes is of no interest here; the check has a deadline.
           *more = reply_untrusted.isEntered() || reply_untrusted.isUnseen();
           return *more ? Status() : JudgeOutput(reply_untrusted);
         })
      .then([this, more](Status status) -> kj::Promise<Status> {
        if (*more) return AwaitOutput();
        return status;
      });
}

Status HealthCheck::JudgeOutput(Reply::Reader reply_untrusted) {
  if (reply_untrusted.isEndOfStream()) {
    return Status(Code::kBackendUnavailable, "it finds nothing in it");
  }
  if (audio()) {
    return reply_untrusted.isSamples()
               ? JudgeSamples(reply_untrusted.getSamples())
               : FailureOf(reply_untrusted);
  }
  if (!reply_untrusted.isFrame()) return FailureOf(reply_untrusted);
  const auto frame_untrusted = reply_untrusted.getFrame();
  const auto published = pool_->ledger().Publish(
      frame_untrusted.getSlot(), frame_untrusted.getGeneration());
  if (!published) return Misbehaved(published.error().message);
  const auto fits = ipc::ValidatePublished(
      frame_untrusted.getWidth(), frame_untrusted.getHeight(),
      frame_untrusted.getStride(), pool_->slot_bytes());
  if (!fits) return Misbehaved(fits.error().message);
  return frame_untrusted.getWidth() == kBuiltInClipWidth &&
                 frame_untrusted.getHeight() == kBuiltInClipHeight
             ? Status()
             : Misbehaved("it published a frame of another size");
}

Status HealthCheck::JudgeSamples(
    schema::PublishedSamples::Reader samples_untrusted) {
  const auto published = pool_->ledger().Publish(
      samples_untrusted.getSlot(), samples_untrusted.getGeneration());
  if (!published) return Misbehaved(published.error().message);
  const uint32_t count = samples_untrusted.getCount();
  return samples_untrusted.getFirst() == 0 && count > 0 &&
                 count <= kBuiltInSoundSamples
             ? Status()
             : Misbehaved("it published other samples");
}

Status HealthCheck::Attach() {
  ASSIGN_OR_RETURN(const ipc::UniqueFd clip,
                   audio() ? Seal(kBuiltInSoundName, BuiltInSound())
                           : Seal(kBuiltInClipName, BuiltInClip()));
  ASSIGN_OR_RETURN(auto requests, FromIpc(ipc::OwnedRegion::CreateWritable(
                                      "bulkhead-requests",
                                      ipc::RingGeometry::kRequestRegionBytes)));
  ASSIGN_OR_RETURN(auto replies, FromIpc(ipc::OwnedRegion::CreateReadable(
                                     "bulkhead-replies",
                                     ipc::RingGeometry::kReplyRegionBytes)));
  ASSIGN_OR_RETURN(auto wake_worker, FromIpc(ipc::MakeEventFd()));
  ASSIGN_OR_RETURN(auto wake_us, FromIpc(ipc::MakeEventFd()));
  session_ =
      std::make_unique<Session>(port_, std::move(requests), std::move(replies),
                                std::move(wake_worker), std::move(wake_us));
  capnp::MallocMessageBuilder attach;
  attach.initRoot<schema::Attach>().setSession();
  const int descriptors[] = {session_->requests.fd(), session_->replies.fd(),
                             session_->wake_worker.get(),
                             session_->wake_us.get(), clip.get()};
  return FromIpc(socket_->Send(attach, descriptors));
}

Status HealthCheck::AttachPool() {
  ASSIGN_OR_RETURN(
      const auto geometry,
      FromIpc(ipc::RgbGeometry(kBuiltInClipWidth, kBuiltInClipHeight,
                               Limits().frame_pixels)));
  const uint64_t bytes = audio() ? kSoundSlotBytes : geometry.bytes;
  ASSIGN_OR_RETURN(
      pool_, session::FramePool::Create(bytes, "parts of the built-in clip",
                                        kSlots, kSlots * bytes));
  capnp::MallocMessageBuilder message;
  auto attach = message.initRoot<schema::Attach>().initFramePool();
  attach.setSlotCount(pool_->slot_count());
  attach.setSlotBytes(pool_->slot_bytes());
  const int descriptors[] = {pool_->fd()};
  RETURN_IF_ERROR(FromIpc(socket_->Send(message, descriptors)));
  return Ask([](schema::Request::Builder request) { request.setAttachPool(); });
}

Status HealthCheck::Ask(
    const std::function<void(schema::Request::Builder)>& fill) {
  auto written = session_->writer.TryWrite(
      kRequestWords, [&](capnp::MessageBuilder& message) {
        fill(message.initRoot<schema::Request>());
      });
  if (!written) return FromIpc(std::move(written).error());
  ipc::WakePeer(session_->worker_header(), session_->wake_worker.get());
  return Status();
}

kj::Promise<Status> HealthCheck::AwaitReply(Take take) {
  // Before it is looked for: a reply after that writes it again.
  uint64_t count;
  (void)!::read(session_->wake_us.get(), &count, sizeof(count));
  auto message = session_->reader.TryRead();
  if (!message) return Misbehaved(message.error().message);
  if (!*message) {
    return session_->observer.whenBecomesReadable().then(
        [this, take = std::move(take)]() mutable {
          return AwaitReply(std::move(take));
        });
  }
  ipc::WakePeer(session_->worker_header(), session_->wake_worker.get(),
                ipc::WakeReason::kRoom);
  auto taken = ipc::ReadCatching(
      [&]() -> Status { return take((*message)->root<Reply>()); });
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
