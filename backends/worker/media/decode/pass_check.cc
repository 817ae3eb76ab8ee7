// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/pass_check.h"

#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/try.h"

namespace bulkhead::worker::decode {
namespace {

// The most pictures that a decoder may give for each packet on average. A
// damaged packet, or one of VP9, can hold several.
constexpr uint64_t kMostPictures = 16;

}  // namespace

ipc::Expected<void> PassCheck::Shown(damage::OutstandingPackets::Origin origin,
                                     int64_t pts, const Damage& damage) {
  ++pictures_;
  if (pictures_ > kMostPictures * (packets_ + 1)) {
    return tl::unexpected(
        BreachOf("receive_frame gave " + std::to_string(pictures_) +
                     " pictures for " + std::to_string(packets_) + " packets",
                 "send-2", "A packet gives at most one frame"));
  }
  if (origin == damage::OutstandingPackets::Origin::kLost && damage.only_lost) {
    return tl::unexpected(
        BreachOf("receive_frame gave the picture with the timestamp " +
                     std::to_string(pts) + " after one with a later timestamp",
                 "receive-1", "the next frame in display order"));
  }
  if (origin == damage::OutstandingPackets::Origin::kNone && !damage.met) {
    const std::string time =
        pts == BULKHEAD_NO_TIMESTAMP
            ? "no timestamp"
            : "the timestamp " + std::to_string(pts) + ", which no packet has";
    return tl::unexpected(BreachOf("receive_frame gave a picture with " + time,
                                   "frame-6", "that of the frame's packet"));
  }
  return equal_timestamps_.Shown(pts);
}

ipc::Expected<void> PassCheck::Ended(bool expects_picture,
                                     const Damage& damage) const {
  if (!damage.met) IPC_TRY(equal_timestamps_.Ended());
  // Many files have no packet that can be decoded. But then a decoder
  // complains, or no keyframe has intact headers.
  if (expects_picture && pictures_ == 0 && !damage.complained) {
    return tl::unexpected(BreachOf(
        "receive_frame gave no frame, though send_packet took every "
        "packet, also a keyframe with sound headers",
        "send-3", "each packet that shows a picture has given its frame"));
  }
  return {};
}

}  // namespace bulkhead::worker::decode
