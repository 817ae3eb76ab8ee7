// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backends/worker/media/buffers.h"
#include "backends/worker/media/decoder.h"
#include "backends/worker/media/output_converter.h"
#include "backends/worker/media/slot_pool.h"
#include "ipc/error.h"
#include "ipc/frame_geometry.h"

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
// the decoder. To replace the pool, destroy the delivery and make another.
class FrameDelivery {
 public:
  // `geometry` is that of the converter's results. Decoders may write into the
  // slots from now on. `buffers` and `converter` must outlive the delivery.
  FrameDelivery(std::shared_ptr<SlotPool> pool, BufferProvider& buffers,
                OutputConverter& converter, const ipc::FrameGeometry& geometry);
  FrameDelivery(const FrameDelivery&) = delete;
  FrameDelivery& operator=(const FrameDelivery&) = delete;
  ~FrameDelivery();

  void Grant(uint32_t slot, uint32_t generation);

  // Finds the slot of a picture and takes `frame` over. Convert() must follow
  // before the next picture. Returns nullopt if no slot is free; call again
  // with the same frame after a grant. Fails with kResourceExhausted if the
  // picture is larger than a slot, and with kBackendMisbehaved if it is not
  // what bulkhead_backend.h describes.
  ipc::Expected<std::optional<PlacedFrame>> Place(DecodedFrame& frame);
  // Converts the picture into its slot, which then belongs to the host. May run
  // on another thread while the session's thread decodes. The caller keeps the
  // frame, since a decoder gets its frames back on the session's thread.
  // Fails as OutputConverter::Convert does.
  ipc::Expected<DeliveredFrame> Convert(const PlacedFrame& placed);

 private:
  // Returns the slot in which the picture already is what is delivered.
  std::optional<Slot> SlotOf(const bulkhead_frame& frame);

  const std::shared_ptr<SlotPool> pool_;
  BufferProvider& buffers_;
  OutputConverter& converter_;
  const ipc::FrameGeometry geometry_;
  // Frames that lie in a slot of the host, by slot.
  std::vector<DecodedFrame> lent_;
  bool delivers_in_place_ = true;
};

}  // namespace bulkhead::worker
