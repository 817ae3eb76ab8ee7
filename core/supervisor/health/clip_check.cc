// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/health/clip_check.h"

#include <utility>

#include "core/worker_protocol/stream_opening.h"

namespace bulkhead::health {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;
using worker_protocol::kSmallRequestWords;

constexpr uint32_t kEpoch = 1;  // the number of the only pass

}  // namespace

ClipCheck::ClipCheck(kj::UnixEventPort& port,
                     std::shared_ptr<backend::Incarnation> incarnation,
                     const KnownClip& clip)
    : clip_(clip), talk_(port, std::move(incarnation)), stream_(clip) {}

kj::Promise<Status> ClipCheck::Run(uint32_t device, milliseconds limit) {
  auto media = stream_.MakeMedia();
  if (!media) return std::move(media).error();
  return talk_
      .Begin(backend::Incarnation::WorkerKind::kCheck, *std::move(media), {},
             limit)
      .then([this, device](Status begun) -> kj::Promise<Status> {
        if (!begun.ok()) return begun;
        return Decode(device).exclusiveJoin(talk_.WhenDead());
      })
      .exclusiveJoin(talk_.WhenLate(limit))
      .then([this](Status status) {
        return unsupported_ || status.ok()
                   ? Status()
                   : status.WithContext("it did not decode " + clip_.title);
      });
}

kj::Promise<Status> ClipCheck::Decode(uint32_t device) {
  const worker_protocol::StreamOpening opening = stream_.Opening(device);
  Status asked = talk_.Request(worker_protocol::OpeningWords(opening),
                               [&](schema::Request::Builder request) {
                                 worker_protocol::WriteOpening(
                                     opening, request.initOpen());
                               });
  if (!asked.ok()) return asked;
  return talk_
      .AwaitReply([this](Reply::Reader reply_untrusted) {
        const auto judged = stream_.JudgeOpened(reply_untrusted);
        return judged ? *judged : FailureIn(reply_untrusted);
      })
      .then([this](Status status) -> kj::Promise<Status> {
        if (!status.ok()) return status;
        return Play();
      });
}

kj::Promise<Status> ClipCheck::Play() {
  auto pool = stream_.MakePool();
  if (!pool) return std::move(pool).error();
  Status attached = talk_.AttachPool(*std::move(pool));
  if (!attached.ok()) return attached;
  return talk_
      .AwaitReply([this](Reply::Reader reply_untrusted) {
        return reply_untrusted.isPoolAttached() ? Status()
                                                : FailureIn(reply_untrusted);
      })
      .then([this](Status status) -> kj::Promise<Status> {
        if (!status.ok()) return status;
        status = talk_.Request(kSmallRequestWords,
                               [this](schema::Request::Builder request) {
                                 stream_.FillPlay(kEpoch, request.initPlay());
                               });
        if (status.ok()) status = talk_.Grant();
        if (!status.ok()) return status;
        return AwaitOutput();
      });
}

kj::Promise<Status> ClipCheck::AwaitOutput() {
  // True if the latest reply was neither an output nor the end of the stream.
  auto more = std::make_shared<bool>(false);
  return talk_
      .AwaitReply([this, more](Reply::Reader reply_untrusted) {
        // The worker also reports how its pass goes. A worker that reports
        // without end is stopped by the deadline of the check.
        *more = reply_untrusted.isEntered() || reply_untrusted.isUnseen();
        if (*more) return Status();
        const auto judged = stream_.JudgeOutput(reply_untrusted, talk_.pool());
        return judged ? *judged : FailureIn(reply_untrusted);
      })
      .then([this, more](Status status) -> kj::Promise<Status> {
        if (*more) return AwaitOutput();
        if (!status.ok() || stream_.finished()) return status;
        status = talk_.Grant();
        if (!status.ok()) return status;
        return AwaitOutput();
      });
}

Status ClipCheck::FailureIn(Reply::Reader reply_untrusted) {
  Status failure = backend::FailureOf(reply_untrusted);
  unsupported_ =
      !clip_.must_be_supported && failure.code() == Code::kUnsupported;
  return failure;
}

}  // namespace bulkhead::health
