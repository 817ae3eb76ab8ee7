// SPDX-License-Identifier: Apache-2.0
#include "backends/openreg/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace bulkhead::openreg {

DeviceAllocation::DeviceAllocation(DeviceAllocation&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)),
      base_(other.base_),
      mapped_(other.mapped_) {}

DeviceAllocation& DeviceAllocation::operator=(
    DeviceAllocation&& other) noexcept {
  if (this == &other) return *this;
  Free();
  owner_ = std::exchange(other.owner_, nullptr);
  base_ = other.base_;
  mapped_ = other.mapped_;
  return *this;
}

DeviceAllocation::~DeviceAllocation() { Free(); }

void DeviceAllocation::Free() {
  if (owner_ != nullptr) std::exchange(owner_, nullptr)->Keep(base_, mapped_);
}

DeviceAllocation::Access::Access(Access&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), mapped_(other.mapped_) {}

DeviceAllocation::Access::~Access() {
  if (data_ != nullptr) mprotect(data_, mapped_, PROT_NONE);
}

std::optional<DeviceAllocation::Access> DeviceAllocation::Open() {
  if (mprotect(base_, mapped_, PROT_READ | PROT_WRITE) != 0) {
    return std::nullopt;
  }
  return Access(base_, mapped_);
}

DeviceMemory::~DeviceMemory() {
  for (const Range& range : kept_) munmap(range.base, range.mapped);
}

std::optional<DeviceAllocation> DeviceMemory::Allocate(size_t bytes) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (bytes == 0 || bytes > capacity_) return std::nullopt;
  const size_t mapped = (bytes + page - 1) / page * page;
  const std::lock_guard lock(mutex_);
  const auto kept = std::find_if(
      kept_.begin(), kept_.end(),
      [mapped](const Range& range) { return range.mapped == mapped; });
  if (kept != kept_.end()) {
    uint8_t* base = kept->base;
    kept_.erase(kept);
    kept_bytes_ -= mapped;
    in_use_ += mapped;
    return DeviceAllocation(this, base, mapped);
  }
  if (mapped > capacity_ - in_use_) return std::nullopt;
  // Unmaps the ranges that were kept first until the new one has room.
  while (in_use_ + kept_bytes_ + mapped > capacity_) {
    munmap(kept_.front().base, kept_.front().mapped);
    kept_bytes_ -= kept_.front().mapped;
    kept_.erase(kept_.begin());
  }
  void* base =
      mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return std::nullopt;
  in_use_ += mapped;
  return DeviceAllocation(this, static_cast<uint8_t*>(base), mapped);
}

void DeviceMemory::Keep(uint8_t* base, size_t mapped) {
  const std::lock_guard lock(mutex_);
  in_use_ -= mapped;
  kept_bytes_ += mapped;
  kept_.push_back({base, mapped});
}

}  // namespace bulkhead::openreg
