// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/shadow/shadow_decoder.h"

#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/supervisor/backend/worker_talk.h"
#include "core/worker_protocol/reply_validation.h"

namespace bulkhead::shadow {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;
using worker_protocol::kSmallRequestWords;

constexpr uint32_t kEpoch = 1;
// Enough slots for the worker to decode while a picture is hashed.
constexpr uint32_t kSlots = 4;
// The most replies in a row that are neither a picture nor the end of stream.
constexpr uint32_t kMostIdleReplies = 1'000;

}  // namespace

ShadowDecoder::ShadowDecoder(kj::UnixEventPort& port, Settings settings,
                             std::unique_ptr<capnp::MessageBuilder> open,
                             ipc::UniqueFd media, ipc::UniqueFd frames,
                             std::function<void()> changed)
    : port_(port),
      settings_(std::move(settings)),
      open_(std::move(open)),
      media_(std::move(media)),
      frames_(port, std::move(frames)),
      changed_(std::move(changed)),
      matcher_(settings_.against) {}

kj::Promise<Status> ShadowDecoder::Run(
    std::shared_ptr<backend::Backend> backend, const DeviceName& device) {
  // After the application has closed the stream, the shadow has the time of one
  // step to catch up.
  auto late =
      when_closed_.promise
          .then([this] {
            return port_.getTimer().afterDelay(settings_.step_deadline.count() *
                                               kj::MILLISECONDS);
          })
          .then([] {
            return Status(
                Code::kDeadlineExceeded,
                "it took too long to catch up once the stream was closed");
          });
  auto compared = Start(backend, device)
                      .exclusiveJoin(kj::mv(late))
                      .then([this](Status status) {
                        StopComparing();
                        return status;
                      });
  // If the comparison ends first, TakeFrames() goes on counting.
  return kj::joinPromises(
             kj::arr(TakeFrames(), compared.then([this](Status status) {
               outcome_ = std::move(status);
             })))
      .then([this] { return outcome_; });
}

kj::Promise<void> ShadowDecoder::CountOnly() {
  StopComparing();
  return TakeFrames();
}

void ShadowDecoder::StopComparing() {
  decoding_ = false;
  talk_.reset();
  if (!matcher_.over()) matcher_.GiveUp();
  frames_.EndSending();
  changed_();
}

kj::Promise<void> ShadowDecoder::TakeFrames() {
  return frames_.Receive(0).then([this](auto received) -> kj::Promise<void> {
    if (!received || !*received) {
      closed_ = true;
      when_closed_.fulfiller->fulfill();
      if (more_) more_->fulfill();
      return kj::READY_NOW;
    }
    if (auto frame = (*received)->template root<schema::ShadowedFrame>()) {
      matcher_.NotSent(frame->getNotSent());
      if (!frame->getClosed()) {
        matcher_.Show({.number = frame->getNumber(),
                       .pts = frame->getPts(),
                       .seconds = frame->getSeconds(),
                       .hash = frame->getHash(),
                       .in_order = frame->getInOrder(),
                       .damaged = frame->getDamaged(),
                       .ended = frame->getEnded()});
      }
      changed_();
      if (more_) more_->fulfill();
    }
    return TakeFrames();
  });
}

kj::Promise<void> ShadowDecoder::AwaitFrame() {
  auto paf = kj::newPromiseAndFulfiller<void>();
  more_ = kj::mv(paf.fulfiller);
  return kj::mv(paf.promise);
}

kj::Promise<Status> ShadowDecoder::WithinStep(kj::Promise<Status> step,
                                              const char* name) {
  auto late = port_.getTimer().afterDelay(settings_.step_deadline.count() *
                                          kj::MILLISECONDS);
  return step.exclusiveJoin(late.then([name] {
    return Status(Code::kDeadlineExceeded,
                  std::string("it took too long to ") + name);
  }));
}

kj::Promise<Status> ShadowDecoder::Start(
    const std::shared_ptr<backend::Backend>& backend,
    const DeviceName& device) {
  return backend->lifecycle().EnsureReady().then(
      [this, backend, device](Status ready) -> kj::Promise<Status> {
        if (!ready.ok()) return ready;
        auto found = backend->lifecycle().devices().Find(device);
        if (!found) return std::move(found).error();
        return backend->lifecycle().ForSession().then(
            [this, backend, ordinal = found->ordinal](
                auto incarnation) -> kj::Promise<Status> {
              if (!incarnation) return std::move(incarnation).error();
              talk_ = std::make_unique<backend::WorkerTalk>(
                  port_, *std::move(incarnation));
              return WithinStep(talk_->Begin(
                                    backend::Incarnation::WorkerKind::kSession,
                                    std::move(media_), settings_.memory,
                                    settings_.worker_deadline),
                                "start")
                  .then([this, ordinal](Status begun) -> kj::Promise<Status> {
                    if (!begun.ok()) return begun;
                    return Open(ordinal).exclusiveJoin(talk_->WhenDead());
                  });
            });
      });
}

kj::Promise<Status> ShadowDecoder::Open(uint32_t device) {
  const auto open = open_->getRoot<schema::Open>().asReader();
  Status asked = talk_->Request(open.totalSize().wordCount + kSmallRequestWords,
                                [&](schema::Request::Builder request) {
                                  request.setOpen(open);
                                  request.getOpen().setDevice(device);
                                });
  if (!asked.ok()) return asked;
  return WithinStep(talk_->AwaitReply([this](Reply::Reader reply_untrusted) {
           return TakeOpened(reply_untrusted);
         }),
                    "open the file")
      .then([this](Status opened) -> kj::Promise<Status> {
        if (!opened.ok()) return opened;
        return WithinStep(talk_->AwaitReply([](Reply::Reader reply_untrusted) {
                 return reply_untrusted.isPoolAttached()
                            ? Status()
                            : backend::FailureOf(reply_untrusted);
               }),
                          "map its frames")
            .then([this](Status attached) -> kj::Promise<Status> {
              if (!attached.ok()) return attached;
              return Play();
            });
      });
}

Status ShadowDecoder::TakeOpened(Reply::Reader reply_untrusted) {
  if (!reply_untrusted.isOpened()) return backend::FailureOf(reply_untrusted);
  const auto opened_untrusted = reply_untrusted.getOpened();
  const Limits limits{.frame_pixels =
                          open_->getRoot<schema::Open>().getMaxFramePixels()};
  const auto opened = worker_protocol::ValidateOpened(opened_untrusted, limits);
  if (!opened) return backend::Misbehaved(opened.error().message());
  const bool floats =
      opened_untrusted.getElementType() == schema::ElementType::FLOAT32;
  shape_ = {.width = opened->width,
            .height = opened->height,
            .element =
                floats ? ipc::ElementType::kFloat32 : ipc::ElementType::kUint8};
  ASSIGN_OR_RETURN(
      const auto geometry,
      FromIpc(ipc::RgbGeometry(shape_.width, shape_.height, limits.frame_pixels,
                               shape_.element)));
  ASSIGN_OR_RETURN(auto pool,
                   worker_protocol::FramePool::Create(
                       geometry, kSlots, settings_.memory.shared_bytes,
                       worker_protocol::FramePool::Slots::kAllocated));
  return talk_->AttachPool(std::move(pool));
}

kj::Promise<Status> ShadowDecoder::Play() {
  Status asked =
      talk_->Request(kSmallRequestWords, [](schema::Request::Builder request) {
        auto play = request.initPlay();
        play.setEpoch(kEpoch);
        play.getStart().setBeginning();
      });
  if (asked.ok()) asked = talk_->Grant();
  if (!asked.ok()) return asked;
  return Compare();
}

kj::Promise<Status> ShadowDecoder::Compare() {
  if (matcher_.over()) return Status();
  if (!matcher_.wants_picture()) {
    if (closed_) return Status();
    return AwaitFrame().then([this] { return Compare(); });
  }
  return WithinStep(talk_->AwaitReply([this](Reply::Reader reply_untrusted) {
           return TakeEvent(reply_untrusted);
         }),
                    "decode the next frame")
      .then([this](Status status) -> kj::Promise<Status> {
        changed_();
        if (!status.ok()) return status;
        return Compare();
      });
}

Status ShadowDecoder::TakeEvent(Reply::Reader reply_untrusted) {
  if (reply_untrusted.isFrame()) {
    return TakePicture(reply_untrusted.getFrame());
  }
  if (reply_untrusted.isEndOfStream()) {
    matcher_.Ended();
    return Status();
  }
  if (reply_untrusted.isUnseen()) {
    // This pass skips nothing, so a frame that the worker left out is damaged.
    // NOTE is about a frame that the worker will still deliver.
    for (const auto frame_untrusted : reply_untrusted.getUnseen().getFrames()) {
      if (frame_untrusted.getFate() == schema::UnseenFrame::Fate::NOTE) {
        continue;
      }
      matcher_.MetDamage();
      return Status(Code::kBadInput, "it finds the file damaged");
    }
  } else if (!reply_untrusted.isEntered()) {
    return backend::FailureOf(reply_untrusted);
  }
  return ++idle_replies_ <= kMostIdleReplies
             ? Status()
             : backend::Misbehaved("it answers without end");
}

Status ShadowDecoder::TakePicture(
    schema::PublishedFrame::Reader frame_untrusted) {
  auto lease = worker_protocol::AdoptPictureIfValid(frame_untrusted, shape_,
                                                    talk_->pool());
  if (!lease) return backend::Misbehaved(lease.error().message());
  idle_replies_ = 0;
  if (frame_untrusted.getDamaged()) {
    matcher_.MetDamage();
    return Status(Code::kBadInput, "it finds the file damaged");
  }
  const size_t row_bytes =
      size_t{shape_.width} * ipc::BytesPerPixel(shape_.element);
  matcher_.Decoded(
      {.pts = frame_untrusted.getPts(),
       .hash = settings_.hasher((*lease)->pixels(), shape_.width, shape_.height,
                                row_bytes, frame_untrusted.getStride())});
  lease->reset();
  return talk_->Grant();
}

}  // namespace bulkhead::shadow
