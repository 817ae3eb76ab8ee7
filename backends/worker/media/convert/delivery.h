// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backends/worker/media/convert/output_converter.h"
#include "backends/worker/media/decode/buffers.h"
#include "backends/worker/media/decode/decoder.h"
#include "backends/worker/media/decode/slot_pool.h"
#include "ipc/error.h"
#include "ipc/frame_geometry.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

namespace bulkhead::worker {

// A picture in a slot that now belongs to the host.
struct DeliveredFrame {
  uint32_t slot;
  uint32_t generation;
  ipc::FrameGeometry geometry;
  const uint8_t* data;  // for computing the fingerprint
};

// A picture that has a slot.
struct PlacedFrame {
  Slot slot;
  ipc::FrameGeometry geometry;  // of the result
  // The picture to convert into the slot. Empty if the slot holds it already.
  DecodedFrame frame;
};

// Puts decoded pictures into slots of the frame pool.
//
//     FrameDelivery delivery(pool, buffers, converter);
//     delivery.Grant(slot, generation);      // as the host sends them
//     auto placed = delivery.Place(frame);   // empty: no slot
//     auto delivered = delivery.Convert(*placed);
//     placed->frame.Reset();
//
// Most pictures are converted into a free slot. A picture that needs no
// conversion, and was decoded into a slot (BufferProvider), is published
// without a copy. The decoder's frame is then kept until the host grants the
// slot again, since the decoder may draw the next picture into a frame that it
// got back.
//
// Used by the session's thread, except for Convert(). Must be destroyed before
// the decoder.
class FrameDelivery {
 public:
  // Decoders may write into the slots from now on. `buffers` and `converter`,
  // which knows the shape of a result, must outlive the delivery.
  FrameDelivery(std::shared_ptr<SlotPool> pool, BufferProvider& buffers,
                OutputConverter& converter);
  FrameDelivery(const FrameDelivery&) = delete;
  FrameDelivery& operator=(const FrameDelivery&) = delete;
  ~FrameDelivery();

  // Delivers into the slots of `pool` from now on, of which none is granted.
  void ReplacePool(std::shared_ptr<SlotPool> pool);
  void Grant(uint32_t slot, uint32_t generation);

  // Finds the slot of a picture and takes `frame` over. Convert() must follow
  // before the next picture. Returns nullopt if no slot is free, or if the
  // picture is larger than a slot; call again with the same frame after a
  // grant, or when the pool was replaced. Fails with kBackendMisbehaved if the
  // picture is not what bulkhead_backend.h describes.
  ipc::Expected<std::optional<PlacedFrame>> Place(DecodedFrame& frame);
  // Converts the picture into its slot, which then belongs to the host. May run
  // on another thread while the session's thread decodes. The caller keeps the
  // frame, since a decoder gets its frames back on the session's thread.
  // Fails as OutputConverter::Convert does.
  ipc::Expected<DeliveredFrame> Convert(const PlacedFrame& placed);
  // Returns whether the picture that was to be placed last is larger than a
  // slot.
  bool outgrown() const {
    return converter_.shape().geometry.bytes > pool_->slot_bytes();
  }

 private:
  // Describes the pictures that decoders may write into the slots. Without a
  // format, they may write none.
  struct Form {
    AVPixelFormat format = AV_PIX_FMT_NONE;
    ipc::FrameGeometry geometry{};
    bool operator==(const Form&) const = default;
  };

  // Lets decoders write pictures like the converter's latest into the slots, if
  // those are `in_place` results and fit.
  void LetDecodersWrite(bool in_place);
  // Returns the slot in which the picture already is what is delivered.
  std::optional<Slot> SlotOf(const bulkhead_frame& frame);

  std::shared_ptr<SlotPool> pool_;
  BufferProvider& buffers_;
  OutputConverter& converter_;
  Form written_;
  // Frames that lie in a slot of the host, by slot.
  std::vector<DecodedFrame> lent_;
  // Frames in slots of earlier pools, which the host never grants again.
  std::vector<DecodedFrame> lent_for_good_;
};

}  // namespace bulkhead::worker
