// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/published_output.h"

#include "core/base/status_macros.h"

namespace bulkhead::session {
namespace {

namespace schema = ipc::schema;

Status Violation(std::string what) {
  return Status(Code::kBackendMisbehaved, std::move(what));
}

Result<std::shared_ptr<FrameLease>> AdoptSlotIfValid(
    uint32_t slot_untrusted, uint32_t generation_untrusted,
    const std::shared_ptr<FramePool>& pool) {
  if (!pool) return Violation("it published a frame before it had memory");
  if (auto published =
          pool->ledger().Publish(slot_untrusted, generation_untrusted);
      !published) {
    return Violation(std::move(published).error().message);
  }
  return std::make_shared<FrameLease>(pool, slot_untrusted);
}

}  // namespace

Result<std::shared_ptr<FrameLease>> AdoptPictureIfValid(
    schema::PublishedFrame::Reader frame_untrusted, const PictureShape& shape,
    const std::shared_ptr<FramePool>& pool) {
  ASSIGN_OR_RETURN(auto lease,
                   AdoptSlotIfValid(frame_untrusted.getSlot(),
                                    frame_untrusted.getGeneration(), pool));
  if (frame_untrusted.getWidth() != shape.width ||
      frame_untrusted.getHeight() != shape.height) {
    return Violation("it published a frame of another size");
  }
  if (auto valid = ipc::ValidatePublished(shape.width, shape.height,
                                          frame_untrusted.getStride(),
                                          pool->slot_bytes(), shape.element);
      !valid) {
    return Violation(std::move(valid).error().message);
  }
  return lease;
}

Result<std::shared_ptr<FrameLease>> AdoptSamplesIfValid(
    schema::PublishedSamples::Reader samples_untrusted, uint32_t channels,
    const std::shared_ptr<FramePool>& pool) {
  ASSIGN_OR_RETURN(auto lease,
                   AdoptSlotIfValid(samples_untrusted.getSlot(),
                                    samples_untrusted.getGeneration(), pool));
  const uint32_t count = samples_untrusted.getCount();
  if (count == 0 || count > pool->slot_bytes() / (sizeof(float) * channels)) {
    return Violation("it published samples that do not fit their slot");
  }
  return lease;
}

}  // namespace bulkhead::session
