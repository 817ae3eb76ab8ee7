// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session/picture_publisher.h"

#include <xxhash.h>

#include <utility>

#include "backends/worker/session/within_memory.h"
#include "ipc/frame_geometry.h"
#include "ipc/try.h"

namespace bulkhead::worker::session {
namespace {

namespace schema = ipc::schema;

constexpr uint32_t kFingerprintRowStep = 16;

// Hashes every 16th row of each plane: enough for the host to verify that a
// replay delivers the same frames, at little cost.
uint64_t Fingerprint(const convert::DeliveredFrame& frame) {
  uint64_t fingerprint = 0;
  for (uint32_t i = 0; i < frame.geometry.plane_count; ++i) {
    const ipc::PlaneGeometry& plane = frame.geometry.planes[i];
    const uint8_t* const rows = frame.data + plane.offset;
    for (uint32_t y = 0; y < plane.rows; y += kFingerprintRowStep) {
      fingerprint = XXH3_64bits_withSeed(rows + size_t{y} * plane.stride,
                                         plane.row_bytes, fingerprint);
    }
  }
  return fingerprint;
}

}  // namespace

void PicturePublisher::Begin(Picture picture, convert::PlacedFrame placed,
                             convert::FrameDelivery& delivery, bool beside) {
  begun_.emplace(Begun{std::move(picture), std::move(placed), delivery});
  replies_.CountDecoded();
  if (beside) {
    side_.Begin();
  } else {
    PublishBegun();
  }
}

ipc::Expected<void> PicturePublisher::Settle() {
  side_.Finish();
  // The decoder gets its frame back on this thread.
  begun_.reset();
  return std::exchange(published_, {});
}

void PicturePublisher::PublishBegun() {
  published_ = WithinMemory([this] { return Publish(*begun_); });
}

ipc::Expected<void> PicturePublisher::Publish(const Begun& begun) {
  IPC_ASSIGN_OR_RETURN(const auto delivered,
                       begun.delivery.Convert(begun.placed));
  const Picture& picture = begun.picture;
  return replies_.Send(kSmallReplyWords, [&](schema::Reply::Builder reply) {
    auto frame = reply.initFrame();
    frame.setEpoch(picture.epoch);
    frame.setSlot(delivered.slot);
    frame.setGeneration(delivered.generation);
    frame.setWidth(delivered.geometry.width);
    frame.setHeight(delivered.geometry.height);
    frame.setStride(delivered.geometry.stride);
    frame.setPts(picture.pts);
    frame.setDuration(picture.duration);
    frame.setKeyframe(picture.keyframe);
    frame.setDamaged(picture.damaged);
    frame.setSign(SignOf(picture.sign));
    frame.setPosition(picture.position);
    frame.setCheck(picture.check);
    frame.setFingerprint(Fingerprint(delivered));
    if (picture.facts) SetFacts(frame.initFacts(), *picture.facts);
    if (!picture.pixel_format.empty()) {
      frame.setPixelFormat(picture.pixel_format);
    }
  });
}

}  // namespace bulkhead::worker::session
