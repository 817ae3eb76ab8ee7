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

namespace bulkhead::worker {

// A picture in a slot that is the host's from now on.
struct DeliveredFrame {
  uint32_t slot;
  uint32_t generation;
  uint32_t width;
  uint32_t height;
  uint32_t stride;
  uint32_t row_bytes;   // of them pixels
  const uint8_t* data;  // for the fingerprint
};

// Brings decoded pictures into slots of the frame pool.
//
//     FrameDelivery delivery(pool, buffers, converter);
//     delivery.Grant(slot, generation);          // as the host sends them
//     auto delivered = delivery.Deliver(frame);  // *delivered empty: no slot
//
// Most pictures are converted into a free slot. One that is RGB already and was
// decoded into a slot (BufferProvider) is published as it lies; its decoder's
// frame is then kept until the host grants the slot again, since a decoder that
// has its frame back may draw the next picture over it.
//
// Belongs to the session's thread, and is destroyed before the decoder. The
// pool may be replaced by destroying the delivery and making another.
class FrameDelivery {
 public:
  // `buffers` and `converter` outlive the delivery.
  FrameDelivery(std::shared_ptr<SlotPool> pool, BufferProvider& buffers,
                OutputConverter& converter);
  FrameDelivery(const FrameDelivery&) = delete;
  FrameDelivery& operator=(const FrameDelivery&) = delete;
  ~FrameDelivery();

  void Grant(uint32_t slot, uint32_t generation);

  // Empty if no slot is free: call again with the same frame after a grant.
  // `frame` is given up when it was delivered. kResourceExhausted if the
  // picture is larger than a slot.
  ipc::Expected<std::optional<DeliveredFrame>> Deliver(DecodedFrame& frame);

 private:
  const std::shared_ptr<SlotPool> pool_;
  BufferProvider& buffers_;
  OutputConverter& converter_;
  std::vector<DecodedFrame> lent_;  // by slot
  bool delivers_in_place_ = false;
};

}  // namespace bulkhead::worker
