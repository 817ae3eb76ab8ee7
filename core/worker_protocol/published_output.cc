// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/published_output.h"

#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"

namespace bulkhead::worker_protocol {
namespace {

namespace schema = ipc::schema;

constexpr uint8_t kMostRange = 2;
constexpr uint8_t kMostChromaLocation = 6;

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

Result<ipc::FrameGeometry> GeometryOf(const PictureShape& shape,
                                      uint64_t max_pixels) {
  if (shape.native) return shape.native->geometry;
  return FromIpc(
      ipc::RgbGeometry(shape.width, shape.height, max_pixels, shape.element));
}

Result<PictureShape> OwnShapeIfValid(uint32_t width_untrusted,
                                     uint32_t height_untrusted,
                                     const std::string& pixel_format_untrusted,
                                     const PictureShape& before,
                                     uint64_t max_pixels) {
  const bool same_size =
      width_untrusted == before.width && height_untrusted == before.height;
  if (same_size && (!before.native ||
                    before.native->pixel_format == pixel_format_untrusted)) {
    return before;
  }
  PictureShape shape{.width = width_untrusted,
                     .height = height_untrusted,
                     .element = before.element};
  if (before.native) {
    auto native = NativeFormat::Create(pixel_format_untrusted, width_untrusted,
                                       height_untrusted, max_pixels);
    // Any other error means that the picture is too large, which is reported
    // below.
    if (native) {
      shape.native = *std::move(native);
    } else if (native.error().code() == Code::kBackendMisbehaved) {
      return native.error();
    }
  }
  if ((before.native && !shape.native) || !GeometryOf(shape, max_pixels)) {
    return Violation("it reported a picture beyond the limit it was given");
  }
  return shape;
}

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
  if (shape.native) {
    if (frame_untrusted.getStride() != shape.native->geometry.stride ||
        shape.native->geometry.bytes > pool->slot_bytes()) {
      return Violation("it published planes that are not where they must be");
    }
    return lease;
  }
  if (auto valid = ipc::ValidatePublished(shape.width, shape.height,
                                          frame_untrusted.getStride(),
                                          pool->slot_bytes(), shape.element);
      !valid) {
    return Violation(std::move(valid).error().message);
  }
  return lease;
}

Result<PictureFacts> ValidateFacts(
    schema::PictureFacts::Reader facts_untrusted) {
  const Color color{.primaries = facts_untrusted.getPrimaries(),
                    .transfer = facts_untrusted.getTransfer(),
                    .space = facts_untrusted.getSpace(),
                    .range = facts_untrusted.getRange(),
                    .chroma_location = facts_untrusted.getChromaLocation()};
  if (color.range > kMostRange || color.chroma_location > kMostChromaLocation) {
    return Violation("it published a picture of no known colours");
  }
  PictureFacts facts{.color = color};
  if (facts_untrusted.getInterlaced()) {
    facts.field_order = facts_untrusted.getTopFieldFirst()
                            ? FieldOrder::kTopFirst
                            : FieldOrder::kBottomFirst;
  }
  return facts;
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

}  // namespace bulkhead::worker_protocol
