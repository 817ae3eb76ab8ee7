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

// A worker publishes a picture or a block of samples by naming the slot of the
// pool that it has filled. These functions check the claim against the ledger
// of the pool and against the format with which the stream was opened, and
// return a lease on the slot. The content of the slot is not looked at.
//
// An error means that the worker broke the protocol; its message is a clause
// that begins with "it". `pool` is null as long as the worker has no pool. The
// readers must be over private memory; call inside ipc::ReadCatching.

// The format of a picture: one for all pictures of a stream with autoscale.
struct PictureShape {
  uint32_t width = 0;
  uint32_t height = 0;
  ipc::ElementType element = ipc::ElementType::kUint8;
  // Set in place of `element` for native pictures.
  std::shared_ptr<const NativeFormat> native = nullptr;
};
// Returns the layout of such a picture in its slot. Fails as ipc::RgbGeometry
// and ipc::NativeGeometry do.
Result<ipc::FrameGeometry> GeometryOf(const PictureShape& shape,
                                      uint64_t max_pixels);
// Returns the shape of a picture that may have a size of its own, and if
// `before` is native, a pixel format too. `before` is the shape of an earlier
// picture.
Result<PictureShape> OwnShapeIfValid(uint32_t width_untrusted,
                                     uint32_t height_untrusted,
                                     const std::string& pixel_format_untrusted,
                                     const PictureShape& before,
                                     uint64_t max_pixels);
Result<std::shared_ptr<FrameLease>> AdoptPictureIfValid(
    ipc::schema::PublishedFrame::Reader frame_untrusted,
    const PictureShape& shape, const std::shared_ptr<FramePool>& pool);

// Returns what the worker says of a native picture; an error if a field has no
// meaning.
struct PictureFacts {
  Color color;
  FieldOrder field_order = FieldOrder::kProgressive;
};
Result<PictureFacts> ValidateFacts(
    ipc::schema::PictureFacts::Reader facts_untrusted);

// `channels` floats belong to each sample.
Result<std::shared_ptr<FrameLease>> AdoptSamplesIfValid(
    ipc::schema::PublishedSamples::Reader samples_untrusted, uint32_t channels,
    const std::shared_ptr<FramePool>& pool);

}  // namespace bulkhead::worker_protocol
