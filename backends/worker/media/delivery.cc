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
                             OutputConverter& converter)
    : pool_(std::move(pool)),
      buffers_(buffers),
      converter_(converter),
      lent_(pool_->slot_count()) {}

FrameDelivery::~FrameDelivery() { buffers_.DeliverInto(nullptr, 0); }

void FrameDelivery::Grant(uint32_t slot, uint32_t generation) {
  if (slot >= lent_.size()) return;
  // The host is done with the slot, so the decoder gets its frame back. This
  // comes before the grant, so that the release can free the slot.
  lent_[slot].Reset();
  pool_->Grant(slot, generation);
}

ipc::Expected<std::optional<DeliveredFrame>> FrameDelivery::Deliver(
    DecodedFrame& frame) {
  IPC_ASSIGN_OR_RETURN(const auto shape, converter_.Prepare(*frame));
  if (frame->buffer != nullptr && !buffers_.Holds(*frame)) {
    return tl::unexpected(
        BreachOf("receive_frame gave a picture whose planes are not in the "
                 "buffer that it names",
                 "frame-4",
                 "The planes lie in the buffer from acquire_buffer that "
                 "`buffer` names"));
  }
  const PictureSize size = shape.size;
  IPC_ASSIGN_OR_RETURN(
      const auto geometry,
      ipc::RgbGeometry(size.width, size.height, UINT64_MAX, shape.element));
  if (geometry.bytes > pool_->slot_bytes()) {
    return ipc::Fail(ipc::Code::kResourceExhausted,
                     "a picture of " + std::to_string(size.width) + "x" +
                         std::to_string(size.height) +
                         " does not fit the frame pool's slots of " +
                         std::to_string(pool_->slot_bytes()) + " bytes");
  }
  DeliveredFrame delivered{0,
                           0,
                           size.width,
                           size.height,
                           geometry.stride,
                           size.width * ipc::BytesPerPixel(shape.element),
                           nullptr};

  // Whether pictures need a conversion shows only with the pictures. A change
  // affects the buffers of later pictures; this one may lie in a buffer of
  // either kind, which is checked below.
  const bool in_place = converter_.IsDeliverable();
  if (in_place != delivers_in_place_) {
    delivers_in_place_ = in_place;
    buffers_.DeliverInto(in_place ? pool_ : nullptr, geometry.stride);
  }
  if (in_place) {
    const auto slot = buffers_.PublishableSlot(*pool_, frame->buffer);
    if (slot && frame->data[0] == slot->data &&
        frame->stride[0] == static_cast<int32_t>(geometry.stride)) {
      delivered.slot = slot->index;
      delivered.generation = slot->generation;
      delivered.data = slot->data;
      // The decoder must not get the frame back yet: it might draw the next
      // picture into the slot, which the host owns now.
      pool_->Publish(slot->index);
      lent_[slot->index] = std::move(frame);
      return delivered;
    }
  }

  const auto slot = pool_->Take();
  if (!slot) return std::nullopt;
  auto converted = converter_.Convert(*frame, slot->data, geometry.stride);
  if (!converted) {
    pool_->Release(slot->index);
    return tl::unexpected(std::move(converted.error()));
  }
  delivered.slot = slot->index;
  delivered.generation = slot->generation;
  delivered.data = slot->data;
  pool_->Publish(slot->index);
  frame.Reset();
  return delivered;
}

}  // namespace bulkhead::worker
