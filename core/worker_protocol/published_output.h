// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/include/bulkhead/frame.h"
#include "core/include/bulkhead/status.h"
#include "core/worker_protocol/frame_pool.h"
#include "core/worker_protocol/native_format.h"
#include "ipc/frame_geometry.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_protocol {

// Functions that check the publications of a worker. A worker publishes a
// picture or a block of samples by naming the slot of the pool that it has
// filled. These functions check the claim against the pool's ledger and against
// the format with which the stream was opened, and return a lease on the slot.
// They do not look into the slot.
//
// An error means that the worker broke the protocol; its message is a clause
// that begins with "it". `pool` is null as long as the worker has no pool. The
// readers must read private copies of the messages, which the worker cannot
// change. Call inside ipc::ReadCatching.

// The format of a picture. With autoscale, the worker scales all pictures of a
// stream to one size, so they all have the same shape.
struct PictureShape {
  uint32_t width = 0;
  uint32_t height = 0;
  ipc::ElementType element = ipc::ElementType::kUint8;
  // Set in place of `element` for native pictures.
  std::shared_ptr<const NativeFormat> native = nullptr;
};
// Returns the layout that a picture of this shape has in its slot. Fails as
// ipc::RgbGeometry and ipc::NativeGeometry do.
Result<ipc::FrameGeometry> GeometryOf(const PictureShape& shape,
                                      uint64_t max_pixels);
// Returns the shape of a picture in a stream without autoscale, as the worker
// reports it: its size and, for a native picture, its pixel format. `before` is
// the shape of an earlier picture of the stream: the element type is taken from
// it, and whether pictures are native. An error means that the picture is too
// large or its format is not listed.
Result<PictureShape> OwnShapeIfValid(uint32_t width_untrusted,
                                     uint32_t height_untrusted,
                                     const std::string& pixel_format_untrusted,
                                     const PictureShape& before,
                                     uint64_t max_pixels);
// Returns a lease on the slot of a published picture of this shape.
Result<std::shared_ptr<FrameLease>> AdoptPictureIfValid(
    ipc::schema::PublishedFrame::Reader frame_untrusted,
    const PictureShape& shape, const std::shared_ptr<FramePool>& pool);

// The properties that a worker reports for a native picture.
struct PictureFacts {
  Color color;
  FieldOrder field_order = FieldOrder::kProgressive;
};
// Returns the properties, or an error if a value has no meaning.
Result<PictureFacts> ValidateFacts(
    ipc::schema::PictureFacts::Reader facts_untrusted);

// Returns a lease on the slot of published samples of `channels` floats each.
Result<std::shared_ptr<FrameLease>> AdoptSamplesIfValid(
    ipc::schema::PublishedSamples::Reader samples_untrusted, uint32_t channels,
    const std::shared_ptr<FramePool>& pool);

}  // namespace bulkhead::worker_protocol
