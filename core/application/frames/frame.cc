// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/frame.h"

#include <cstring>
#include <utility>

#include "core/base/status_macros.h"
#include "core/worker_protocol/frame_pool.h"
#include "core/worker_protocol/native_format.h"
#include "ipc/shared_region.h"

namespace bulkhead {

Frame::Frame(std::shared_ptr<worker_protocol::FrameLease> lease, FrameInfo info,
             std::shared_ptr<const std::string> device,
             std::shared_ptr<const worker_protocol::NativeFormat> native)
    : lease_(std::move(lease)),
      pixels_(lease_->pixels()),
      info_(info),
      device_(std::move(device)),
      native_(std::move(native)) {}

Frame::~Frame() = default;
Frame::Frame(Frame&&) noexcept = default;
Frame& Frame::operator=(Frame&&) noexcept = default;

const std::string& Frame::pixel_format() const {
  static const std::string kBytes = "rgb24";
  static const std::string kFloats = "rgbf32le";
  if (native_) return native_->pixel_format;
  return info_.dtype == Dtype::kFloat32 ? kFloats : kBytes;
}

size_t Frame::plane_count() const {
  return native_ ? native_->geometry.plane_count : 1;
}

Plane Frame::plane(size_t i) const {
  if (i >= plane_count()) {
    throw StatusError(Status(Code::kOutOfRange,
                             "the frame has no plane " + std::to_string(i) +
                                 "; " + pixel_format() + " has " +
                                 std::to_string(plane_count())));
  }
  if (native_) return native_->PlaneAt(pixels_, i);
  return {.data = pixels_,
          .stride = info_.stride,
          .width = info_.width,
          .height = info_.height,
          .samples = 3,
          .type = info_.dtype == Dtype::kFloat32 ? SampleType::kFloat32
                                                 : SampleType::kUint8};
}

std::vector<Plane> Frame::planes() const {
  std::vector<Plane> planes;
  for (size_t i = 0; i < plane_count(); ++i) planes.push_back(plane(i));
  return planes;
}

std::array<size_t, 3> Frame::shape() const {
  CheckRgb();
  if (info_.order == DimensionOrder::kNCHW) return {3, height(), width()};
  return {height(), width(), 3};
}

std::array<size_t, 3> Frame::strides() const {
  const size_t row = stride() / BytesOf(dtype());
  if (info_.order == DimensionOrder::kNCHW) return {1, row, 3};
  return {row, 3, 1};
}

std::array<size_t, 4> FrameBatch::shape() const {
  if (order == DimensionOrder::kNCHW) return {size(), 3, height, width};
  return {size(), height, width, 3};
}

std::array<size_t, 4> FrameBatch::strides() const {
  const size_t row = size_t{3} * width;
  if (order == DimensionOrder::kNCHW) return {row * height, 1, row, 3};
  return {row * height, row, 3, 1};
}

Frame Frame::Snapshot() const {
  if (native_) {
    return Frame(
        std::make_shared<worker_protocol::FrameLease>(native_->Pack(pixels_)),
        info_, device_, native_->Packed());
  }
  const size_t row_bytes = 3 * BytesOf(dtype()) * width();
  std::vector<std::byte> own(row_bytes * height());
  for (uint32_t y = 0; y < height(); ++y) {
    std::memcpy(own.data() + y * row_bytes, row(y).data(), row_bytes);
  }
  FrameInfo info = info_;
  info.stride = static_cast<uint32_t>(row_bytes);
  return Frame(std::make_shared<worker_protocol::FrameLease>(std::move(own)),
               info, device_);
}

Result<Frame> Frame::MapPrivate() const {
  if (!lease_->in_slot()) return Snapshot();
  Result<ipc::Mapping> mapping = lease_->MapPrivate();
  if (!mapping && mapping.error().code() == Code::kUnsupported) {
    return Snapshot();
  }
  if (!mapping) return mapping.error();
  return Frame(std::make_shared<worker_protocol::FrameLease>(
                   lease_, *std::move(mapping)),
               info_, device_, native_);
}

}  // namespace bulkhead
