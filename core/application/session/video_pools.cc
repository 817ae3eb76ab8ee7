// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/video_pools.h"

#include <algorithm>
#include <string>

#include "core/application/worker_link/output_options.h"
#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/worker_protocol/native_format.h"
#include "ipc/limit_name.h"

namespace bulkhead::session {
namespace {

// Additional slots for native pictures, since the decoder refers to earlier
// pictures in their slots.
constexpr uint32_t kSlotsOfDecoders = 8;
constexpr uint64_t kPageBytes = 4096;  // slots are a multiple of this

}  // namespace

Result<std::shared_ptr<worker_protocol::FramePool>> VideoPools::First(
    const VideoMetadata& metadata) const {
  if (native_) {
    ASSIGN_OR_RETURN(const auto format,
                     worker_protocol::NativeFormat::Create(
                         metadata.pixel_format, metadata.width, metadata.height,
                         limits_.frame_pixels));
    return worker_protocol::FramePool::Create(
        format->geometry, MostSlots(), limits_.session_bytes,
        worker_protocol::FramePool::Slots::kGrowing);
  }
  ASSIGN_OR_RETURN(const ipc::FrameGeometry geometry,
                   FromIpc(ipc::RgbGeometry(
                       metadata.width, metadata.height, limits_.frame_pixels,
                       worker_link::ElementOf(metadata.dtype))));
  return worker_protocol::FramePool::Create(
      geometry, MostSlots(), limits_.session_bytes,
      worker_protocol::FramePool::Slots::kGrowing);
}

uint32_t VideoPools::MostSlots() const {
  return limits_.frame_slots + (native_ ? kSlotsOfDecoders : 0);
}

Result<std::shared_ptr<worker_protocol::FramePool>> VideoPools::Larger(
    const worker_protocol::FramePool& present,
    const ipc::FrameGeometry& geometry) {
  // A worker can keep old pools mapped, so all its pools count until it has
  // ended.
  const uint64_t given =
      outgrown_bytes_ + present.slot_count() * present.slot_bytes();
  const uint64_t left =
      limits_.session_bytes - std::min(given, limits_.session_bytes);
  const std::string frames = "frames of " + std::to_string(geometry.width) +
                             "x" + std::to_string(geometry.height);
  if (left / geometry.bytes < 2) {
    return Status(
        Code::kResourceExhausted,
        "two " + frames + " need " + std::to_string(2 * geometry.bytes) +
            " bytes, and smaller frames before had " + std::to_string(given) +
            " of the session's " + std::to_string(limits_.session_bytes) +
            "; raise " + ipc::LimitName("session_bytes"));
  }
  // Makes the slots twice as large as before, if that takes at most half of the
  // memory that is left. So a stream whose pictures grow by a few rows again
  // and again does not need a new pool each time.
  const uint64_t cheap =
      std::min(2 * present.slot_bytes(), left / (uint64_t{2} * MostSlots()));
  ASSIGN_OR_RETURN(
      auto pool,
      worker_protocol::FramePool::Create(
          std::max(geometry.bytes, cheap - cheap % kPageBytes), frames,
          MostSlots(), left, worker_protocol::FramePool::Slots::kGrowing));
  outgrown_bytes_ = given;
  return pool;
}

}  // namespace bulkhead::session
