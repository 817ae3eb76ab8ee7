// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/picture_adoption.h"

#include <array>
#include <functional>
#include <string>
#include <utility>

#include "core/application/worker_link/output_options.h"
#include "core/base/status_macros.h"
#include "core/worker_protocol/native_format.h"
#include "core/worker_protocol/reply_validation.h"

namespace bulkhead::worker_link {
namespace {

namespace schema = ipc::schema;

// Returns the hash of the bytes of a picture, without the padding of rows. For
// a native picture, returns the hash of the hashes of its planes.
uint64_t HashPicture(const PictureHasher& hasher, const std::byte* slot,
                     const worker_protocol::PictureShape& shape,
                     uint32_t stride) {
  if (!shape.native) {
    return hasher(slot, shape.width, shape.height,
                  size_t{shape.width} * ipc::BytesPerPixel(shape.element),
                  stride);
  }
  const ipc::FrameGeometry& geometry = shape.native->geometry;
  std::array<uint64_t, ipc::kMostPlanes> hashes = {};
  for (size_t i = 0; i < geometry.plane_count; ++i) {
    const ipc::PlaneGeometry& plane = geometry.planes[i];
    hashes[i] = hasher(slot + plane.offset, shape.width, plane.rows,
                       plane.row_bytes, plane.stride);
  }
  return hasher(reinterpret_cast<const std::byte*>(hashes.data()), shape.width,
                1, sizeof hashes, sizeof hashes);
}

}  // namespace

Status PictureAdoption::Open(const VideoOptions& options, const Limits& limits,
                             const VideoMetadata& metadata) {
  autoscale_ = options.autoscale;
  max_pixels_ = limits.frame_pixels;
  shape_ = {.width = metadata.width,
            .height = metadata.height,
            .element = ElementOf(metadata.dtype)};
  if (options.output_format == OutputFormat::kNative) {
    auto native = worker_protocol::NativeFormat::Create(
        metadata.pixel_format, metadata.width, metadata.height, max_pixels_);
    if (!native) return link_.Misbehaved(native.error().message());
    shape_.native = *std::move(native);
  }
  return Status();
}

Result<PublishedFrame> PictureAdoption::AdoptIfValid(
    schema::PublishedFrame::Reader frame_untrusted) {
  if (!autoscale_) {
    auto shape = worker_protocol::OwnShapeIfValid(
        frame_untrusted.getWidth(), frame_untrusted.getHeight(),
        frame_untrusted.getPixelFormat().cStr(), shape_, max_pixels_);
    if (!shape) return link_.Misbehaved(shape.error().message());
    shape_ = *std::move(shape);
    asked_for_pool_ = false;
  }
  // The ledger must record the slot even if the frame belongs to an earlier
  // play and is dropped afterwards.
  auto lease = worker_protocol::AdoptPictureIfValid(frame_untrusted, shape_,
                                                    link_.pool());
  if (!lease) return link_.Misbehaved(lease.error().message());
  ++count_;
  auto sign = ipc::DamageSign::kUnknown;
  if (frame_untrusted.getDamaged()) {
    const auto claimed =
        worker_protocol::SignIfKnown(frame_untrusted.getSign());
    if (!claimed || ipc::IsNote(*claimed)) {
      return link_.Misbehaved("it reported damage of no known sign");
    }
    sign = *claimed;
  }
  const uint64_t fingerprint =
      FingerprintOf(frame_untrusted, (*lease)->pixels());
  worker_protocol::PictureFacts facts;
  if (shape_.native) {
    auto claimed = worker_protocol::ValidateFacts(frame_untrusted.getFacts());
    if (!claimed) return link_.Misbehaved(claimed.error().message());
    facts = *claimed;
  }
  return PublishedFrame{.lease = *std::move(lease),
                        .width = shape_.width,
                        .height = shape_.height,
                        .stride = frame_untrusted.getStride(),
                        .pts = frame_untrusted.getPts(),
                        .duration = frame_untrusted.getDuration(),
                        .keyframe = frame_untrusted.getKeyframe(),
                        .fingerprint = fingerprint,
                        .damaged = frame_untrusted.getDamaged(),
                        .sign = sign,
                        .position = frame_untrusted.getPosition(),
                        .check = frame_untrusted.getCheck(),
                        .native = shape_.native,
                        .facts = facts};
}

uint64_t PictureAdoption::FingerprintOf(
    schema::PublishedFrame::Reader frame_untrusted,
    const std::byte* slot) const {
  const uint64_t print =
      hasher_ ? HashPicture(*hasher_, slot, shape_, frame_untrusted.getStride())
              : frame_untrusted.getFingerprint();
  if (autoscale_) return print;
  // Without autoscale, the shape is part of the picture, so the next worker
  // must deliver the same shape.
  std::string shape =
      std::to_string(shape_.width) + "x" + std::to_string(shape_.height);
  if (shape_.native) shape += shape_.native->pixel_format;
  return print ^ std::hash<std::string>()(shape);
}

Result<ipc::FrameGeometry> PictureAdoption::AdoptNeedIfValid(
    schema::NeedsPool::Reader needs_untrusted) {
  if (autoscale_ || std::exchange(asked_for_pool_, true)) {
    return link_.Misbehaved("it asked for larger slots that it cannot need");
  }
  const auto shape = worker_protocol::OwnShapeIfValid(
      needs_untrusted.getWidth(), needs_untrusted.getHeight(),
      needs_untrusted.getPixelFormat().cStr(), shape_, max_pixels_);
  if (!shape) return link_.Misbehaved(shape.error().message());
  ASSIGN_OR_RETURN(const ipc::FrameGeometry geometry,
                   worker_protocol::GeometryOf(*shape, max_pixels_));
  if (geometry.bytes <= link_.pool()->slot_bytes()) {
    return link_.Misbehaved("it asked for larger slots that it cannot need");
  }
  return geometry;
}

}  // namespace bulkhead::worker_link
