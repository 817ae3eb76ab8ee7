// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/frame_pool.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "ipc/limit_name.h"

namespace bulkhead::worker_protocol {

Result<std::shared_ptr<FramePool>> FramePool::Create(
    const ipc::FrameGeometry& geometry, uint32_t slots, uint64_t max_bytes,
    Slots allocation) {
  return Create(geometry.bytes,
                "frames of " + std::to_string(geometry.width) + "x" +
                    std::to_string(geometry.height),
                slots, max_bytes, allocation);
}

Result<std::shared_ptr<FramePool>> FramePool::Create(
    uint64_t slot_bytes, const std::string& contents, uint32_t slots,
    uint64_t max_bytes, Slots allocation) {
  // Two slots are needed, since the worker fills one while the application
  // reads the other.
  if (slots < 2) {
    return Status(Code::kResourceExhausted,
                  "a session needs two frame slots; raise " +
                      ipc::LimitName("frame_slots"));
  }
  const uint64_t fitting = std::min<uint64_t>(slots, max_bytes / slot_bytes);
  if (fitting < 2) {
    return Status(
        Code::kResourceExhausted,
        "two " + contents + " need " + std::to_string(2 * slot_bytes) +
            " bytes, the session's limit is " + std::to_string(max_bytes) +
            "; raise " + ipc::LimitName("session_bytes"));
  }
  const auto count = static_cast<uint32_t>(fitting);
  const auto create = allocation == Slots::kAllocated
                          ? ipc::OwnedRegion::CreateReadable
                          : ipc::OwnedRegion::CreateSparse;
  ASSIGN_OR_RETURN(auto region,
                   FromIpc(create("bulkhead-frames", fitting * slot_bytes)));
  // MapPrivate() needs it after GiveTo() has closed the descriptor.
  RETURN_IF_ERROR(FromIpc(region.KeepTemplate()));
  return std::shared_ptr<FramePool>(
      new FramePool(std::move(region), count, slot_bytes,
                    allocation == Slots::kAllocated ? count : 0));
}

FramePool::FramePool(ipc::OwnedRegion region, uint32_t slot_count,
                     uint64_t slot_bytes, uint32_t allocated)
    : region_(std::move(region)),
      slot_count_(slot_count),
      slot_bytes_(slot_bytes),
      allocated_(allocated),
      ledger_(allocated) {}

Result<bool> FramePool::Grow() {
  if (allocated_ == slot_count_) return false;
  const Status populated =
      FromIpc(region_.Populate(allocated_ * slot_bytes_, slot_bytes_));
  if (!populated.ok()) {
    if (allocated_ >= 2) return false;
    return populated;
  }
  ++allocated_;
  ledger_.Add();
  return true;
}

Result<ipc::Mapping> FramePool::MapPrivate(uint32_t index) const {
  return FromIpc(region_.MapPrivate(index * slot_bytes_, slot_bytes_));
}

FrameLease::FrameLease(std::shared_ptr<FramePool> pool, uint32_t slot)
    : pool_(std::move(pool)), slot_(slot) {}

FrameLease::FrameLease(std::shared_ptr<const FrameLease> slot,
                       ipc::Mapping mapping)
    : mapped_slot_(std::move(slot)), mapping_(std::move(mapping)) {}

FrameLease::FrameLease(std::vector<std::byte> own) : own_(std::move(own)) {}

FrameLease::~FrameLease() {
  if (pool_) pool_->ledger().Release(slot_);
}

const std::byte* FrameLease::pixels() const {
  if (pool_) return pool_->slot(slot_);
  return mapped_slot_ ? mapping_.bytes().data() : own_.data();
}

}  // namespace bulkhead::worker_protocol
