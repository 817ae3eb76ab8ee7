// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/convert/delivery.h"

#include <utility>

#include "backends/worker/media/decode/abi_breach.h"
#include "ipc/frame_geometry.h"
#include "ipc/try.h"

namespace bulkhead::worker::convert {

FrameDelivery::FrameDelivery(std::shared_ptr<decode::SlotPool> pool,
                             decode::BufferProvider& buffers,
                             OutputConverter& converter)
    : pool_(std::move(pool)),
      buffers_(buffers),
      converter_(converter),
      lent_(pool_->slot_count()) {
  // Only the first picture will show whether a conversion is needed. Until then
  // decoders may write into slots.
  LetDecodersWrite(/*in_place=*/true);
}

FrameDelivery::~FrameDelivery() { buffers_.DeliverNowhere(); }

void FrameDelivery::ReplacePool(std::shared_ptr<decode::SlotPool> pool) {
  // The decoder must not draw into these frames while the application has their
  // slots. Nobody will report when the application has released them.
  for (decode::DecodedFrame& frame : lent_) {
    if (!frame.empty()) lent_for_good_.push_back(std::move(frame));
  }
  pool_ = std::move(pool);
  lent_ = std::vector<decode::DecodedFrame>(pool_->slot_count());
  written_ = {};
  buffers_.DeliverNowhere();
  LetDecodersWrite(converter_.IsDeliverable());
}

void FrameDelivery::LetDecodersWrite(bool in_place) {
  const Form form = in_place && !outgrown() ? Form{converter_.slot_format(),
                                                   converter_.shape().geometry}
                                            : Form{};
  if (form == written_) return;
  written_ = form;
  if (form.format == AV_PIX_FMT_NONE) {
    buffers_.DeliverNowhere();
  } else {
    buffers_.DeliverInto(pool_, form.format, form.geometry);
  }
}

void FrameDelivery::Grant(uint32_t slot, uint32_t generation) {
  if (slot >= lent_.size()) return;
  // The host is done with the slot, so the decoder gets its frame back. The
  // release comes before the grant, which then makes the slot free.
  lent_[slot].Reset();
  pool_->Grant(slot, generation);
}

std::optional<decode::Slot> FrameDelivery::SlotOf(const bulkhead_frame& frame) {
  // Only a picture shows whether a conversion is needed. A change affects the
  // buffers of later pictures. This picture may lie in a slot or in a private
  // buffer, which is checked below.
  const bool in_place = converter_.IsDeliverable();
  LetDecodersWrite(in_place);
  if (!in_place) return std::nullopt;
  const auto slot = buffers_.PublishableSlot(*pool_, frame.buffer);
  if (!slot) return std::nullopt;
  const ipc::FrameGeometry& geometry = converter_.shape().geometry;
  for (uint32_t i = 0; i < geometry.plane_count; ++i) {
    const ipc::PlaneGeometry& plane = geometry.planes[i];
    if (frame.data[i] != slot->data + plane.offset ||
        frame.stride[i] != static_cast<int32_t>(plane.stride)) {
      return std::nullopt;
    }
  }
  return slot;
}

ipc::Expected<std::optional<PlacedFrame>> FrameDelivery::Place(
    decode::DecodedFrame& frame) {
  IPC_TRY(converter_.Prepare(*frame));
  if (frame->buffer != nullptr && !buffers_.Holds(*frame)) {
    return tl::unexpected(decode::BreachOf(
        "receive_frame gave a picture whose planes are not in the "
        "buffer that it names",
        "frame-4",
        "The planes lie in the buffer from acquire_buffer that "
        "`buffer` names"));
  }
  if (outgrown()) return std::nullopt;
  const ipc::FrameGeometry& geometry = converter_.shape().geometry;
  if (const auto slot = SlotOf(*frame)) {
    // The decoder must not get the frame back yet: it might draw the next
    // picture into the slot, which the host owns now.
    pool_->Publish(slot->index);
    lent_[slot->index] = std::move(frame);
    return PlacedFrame{*slot, geometry, {}};
  }

  const auto slot = pool_->Take();
  if (!slot) return std::nullopt;
  return PlacedFrame{*slot, geometry, std::move(frame)};
}

ipc::Expected<DeliveredFrame> FrameDelivery::Convert(
    const PlacedFrame& placed) {
  const decode::Slot& slot = placed.slot;
  if (!placed.frame.empty()) {
    auto converted =
        converter_.Convert(*placed.frame, slot.data, placed.geometry);
    if (!converted) {
      pool_->Release(slot.index);
      return tl::unexpected(std::move(converted.error()));
    }
    pool_->Publish(slot.index);
  }
  return DeliveredFrame{slot.index, slot.generation, placed.geometry,
                        slot.data};
}

}  // namespace bulkhead::worker::convert
