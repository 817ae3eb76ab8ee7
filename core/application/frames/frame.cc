// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/frame.h"

#include <cstring>
#include <utility>

#include "core/base/status_macros.h"
#include "core/worker_protocol/frame_pool.h"
#include "ipc/shared_region.h"

namespace bulkhead {

Frame::Frame(std::shared_ptr<session::FrameLease> lease, FrameInfo info,
             std::shared_ptr<const std::string> device)
    : lease_(std::move(lease)),
      pixels_(lease_->pixels()),
      info_(info),
      device_(std::move(device)) {}

Frame::~Frame() = default;
Frame::Frame(Frame&&) noexcept = default;
Frame& Frame::operator=(Frame&&) noexcept = default;

std::array<size_t, 3> Frame::shape() const {
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
  const size_t row_bytes = 3 * BytesOf(dtype()) * width();
  std::vector<std::byte> own(row_bytes * height());
  for (uint32_t y = 0; y < height(); ++y) {
    std::memcpy(own.data() + y * row_bytes, row(y).data(), row_bytes);
  }
  FrameInfo info = info_;
  info.stride = static_cast<uint32_t>(row_bytes);
  return Frame(std::make_shared<session::FrameLease>(std::move(own)), info,
               device_);
}

Result<Frame> Frame::MapPrivate() const {
  if (!lease_->in_slot()) return Snapshot();
  ASSIGN_OR_RETURN(ipc::Mapping mapping, lease_->MapPrivate());
  return Frame(
      std::make_shared<session::FrameLease>(lease_, std::move(mapping)), info_,
      device_);
}

}  // namespace bulkhead
