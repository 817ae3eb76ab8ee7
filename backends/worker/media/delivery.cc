// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/delivery.h"

#include <string>
#include <utility>

#include "backends/worker/media/abi_breach.h"
#include "ipc/frame_geometry.h"
#include "ipc/try.h"

namespace bulkhead::worker {

FrameDelivery::FrameDelivery(std::shared_ptr<SlotPool> pool,
                             BufferProvider& buffers,
                             OutputConverter& converter,
                             const ipc::FrameGeometry& geometry)
    : pool_(std::move(pool)),
      buffers_(buffers),
      converter_(converter),
      geometry_(geometry),
      lent_(pool_->slot_count()) {
  buffers_.DeliverInto(pool_, converter_.slot_format(), geometry_);
}

FrameDelivery::~FrameDelivery() { buffers_.DeliverNowhere(); }

void FrameDelivery::Grant(uint32_t slot, uint32_t generation) {
  if (slot >= lent_.size()) return;
  // The host is done with the slot, so the decoder gets its frame back. This
  // comes before the grant, so that the release can free the slot.
  lent_[slot].Reset();
  pool_->Grant(slot, generation);
}

std::optional<Slot> FrameDelivery::SlotOf(const bulkhead_frame& frame) {
  // Only the pictures show whether they need a conversion. A change affects the
  // buffers of later pictures; this one may lie in a buffer of either kind,
  // which is checked below.
  const bool in_place = converter_.IsDeliverable();
  if (in_place != delivers_in_place_) {
    delivers_in_place_ = in_place;
    if (in_place) {
      buffers_.DeliverInto(pool_, converter_.slot_format(), geometry_);
    } else {
      buffers_.DeliverNowhere();
    }
  }
  if (!in_place) return std::nullopt;
  const auto slot = buffers_.PublishableSlot(*pool_, frame.buffer);
  if (!slot) return std::nullopt;
  for (uint32_t i = 0; i < geometry_.plane_count; ++i) {
    const ipc::PlaneGeometry& plane = geometry_.planes[i];
    if (frame.data[i] != slot->data + plane.offset ||
        frame.stride[i] != static_cast<int32_t>(plane.stride)) {
      return std::nullopt;
    }
  }
  return slot;
}

ipc::Expected<std::optional<PlacedFrame>> FrameDelivery::Place(
    DecodedFrame& frame) {
  IPC_TRY(converter_.Prepare(*frame));
  if (frame->buffer != nullptr && !buffers_.Holds(*frame)) {
    return tl::unexpected(
        BreachOf("receive_frame gave a picture whose planes are not in the "
                 "buffer that it names",
                 "frame-4",
                 "The planes lie in the buffer from acquire_buffer that "
                 "`buffer` names"));
  }
  if (geometry_.bytes > pool_->slot_bytes()) {
    return ipc::Fail(ipc::Code::kResourceExhausted,
                     "a picture of " + std::to_string(geometry_.width) + "x" +
                         std::to_string(geometry_.height) +
                         " does not fit the frame pool's slots of " +
                         std::to_string(pool_->slot_bytes()) + " bytes");
  }
  if (const auto slot = SlotOf(*frame)) {
    // The decoder must not get the frame back yet: it might draw the next
    // picture into the slot, which the host owns now.
    pool_->Publish(slot->index);
    lent_[slot->index] = std::move(frame);
    return PlacedFrame{*slot, {}};
  }

  const auto slot = pool_->Take();
  if (!slot) return std::nullopt;
  return PlacedFrame{*slot, std::move(frame)};
}

ipc::Expected<DeliveredFrame> FrameDelivery::Convert(
    const PlacedFrame& placed) {
  const Slot& slot = placed.slot;
  if (!placed.frame.empty()) {
    auto converted = converter_.Convert(*placed.frame, slot.data, geometry_);
    if (!converted) {
      pool_->Release(slot.index);
      return tl::unexpected(std::move(converted.error()));
    }
    pool_->Publish(slot.index);
  }
  return DeliveredFrame{slot.index, slot.generation, geometry_, slot.data};
}

}  // namespace bulkhead::worker
