// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backends/worker/media/convert/output_converter.h"
#include "backends/worker/media/decode/buffer_provider.h"
#include "backends/worker/media/decode/decoder.h"
#include "backends/worker/media/decode/slot_pool.h"
#include "ipc/error.h"
#include "ipc/frame_geometry.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

namespace bulkhead::worker::convert {

// A finished picture in a slot that now belongs to the host.
struct DeliveredFrame {
  uint32_t slot;
  uint32_t generation;
  ipc::FrameGeometry geometry;
  const uint8_t* data;  // for computing the fingerprint
};

// A picture for which a slot was found.
struct PlacedFrame {
  decode::Slot slot;
  ipc::FrameGeometry geometry;  // of the result
  // The picture to convert into the slot. Empty if the slot already holds the
  // result.
  decode::DecodedFrame frame;
};

// Puts decoded pictures into slots of the frame pool.
//
//     FrameDelivery delivery(pool, buffers, converter);
//     delivery.Grant(slot, generation);      // for each grant of the host
//     auto placed = delivery.Place(frame);   // empty: no slot
//     auto delivered = delivery.Convert(*placed);
//     placed->frame.Reset();
//
// Most pictures are converted into a free slot. A picture that needs no
// conversion and was decoded into a slot (BufferProvider) is published without
// a copy. The decoder's frame is then kept until the host grants the slot
// again: if the decoder got the frame back, it could draw the next picture into
// the slot.
//
// Used by the session's thread, except for Convert(). Must be destroyed before
// the decoder.
class FrameDelivery {
 public:
  // Lets decoders write into the slots from now on. `converter` must have a
  // shape: call its FixSize or Prepare first. `buffers` and `converter` must
  // outlive the delivery.
  FrameDelivery(std::shared_ptr<decode::SlotPool> pool,
                decode::BufferProvider& buffers, OutputConverter& converter);
  FrameDelivery(const FrameDelivery&) = delete;
  FrameDelivery& operator=(const FrameDelivery&) = delete;
  ~FrameDelivery();

  // Delivers into the slots of `pool` from now on. The host has granted none of
  // them yet.
  void ReplacePool(std::shared_ptr<decode::SlotPool> pool);
  // Takes a slot that the host hands over.
  void Grant(uint32_t slot, uint32_t generation);

  // Finds a slot for a picture, and takes ownership of `frame`. Convert() must
  // follow before the next picture. Returns nullopt, and leaves `frame`, if no
  // slot is free or the picture is larger than a slot (outgrown()). After a
  // Grant() or a ReplacePool(), call it again with the same frame. Fails as
  // OutputConverter::Prepare does, and with kBackendMisbehaved if the picture
  // is not in the buffer that it names.
  ipc::Expected<std::optional<PlacedFrame>> Place(decode::DecodedFrame& frame);
  // Converts the picture into its slot, which then belongs to the host. May run
  // on another thread while the session's thread decodes. `placed` must be
  // destroyed on the session's thread, since that gives the frame back to the
  // decoder. Fails as OutputConverter::Convert does.
  ipc::Expected<DeliveredFrame> Convert(const PlacedFrame& placed);
  // Returns whether the last picture passed to Place is larger than a slot.
  bool outgrown() const {
    return converter_.shape().geometry.bytes > pool_->slot_bytes();
  }

 private:
  // The form of the pictures that decoders may write into the slots. If the
  // format is AV_PIX_FMT_NONE, decoders may not write into slots.
  struct Form {
    AVPixelFormat format = AV_PIX_FMT_NONE;
    ipc::FrameGeometry geometry{};
    bool operator==(const Form&) const = default;
  };

  // Lets decoders write pictures of the converter's latest shape into the slots
  // if the pictures fit and `in_place` says that they need no conversion.
  void LetDecodersWrite(bool in_place);
  // Returns the slot of a frame that was decoded into a slot and needs no
  // conversion; nullopt for other frames.
  std::optional<decode::Slot> SlotOf(const bulkhead_frame& frame);

  std::shared_ptr<decode::SlotPool> pool_;
  decode::BufferProvider& buffers_;
  OutputConverter& converter_;
  Form written_;  // the form that decoders may write now
  // The decoder's frames that were published without a copy, by slot. The host
  // owns their slots.
  std::vector<decode::DecodedFrame> lent_;
  // Frames in slots of earlier pools, which the host never grants again.
  std::vector<decode::DecodedFrame> lent_for_good_;
};

}  // namespace bulkhead::worker::convert
