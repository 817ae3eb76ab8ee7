// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace bulkhead::openreg {

class DeviceMemory;

// A range of a device's memory. Its address means nothing to the CPU: touching
// it outside of an Access is a segmentation fault, as on a real accelerator.
// Move-only; goes back to its DeviceMemory, which outlives it.
class DeviceAllocation {
 public:
  DeviceAllocation(DeviceAllocation&& other) noexcept;
  DeviceAllocation& operator=(DeviceAllocation&& other) noexcept;
  ~DeviceAllocation();

  size_t bytes() const { return bytes_; }
  // For tests that prove the fault.
  const volatile uint8_t* address() const { return base_; }

  // While one lives the whole range may be read and written by the CPU: this is
  // how a kernel is simulated. One at a time for each allocation; opening it
  // fails (nullopt) where the kernel refuses.
  class Access {
   public:
    Access(Access&& other) noexcept;
    Access& operator=(Access&&) = delete;
    ~Access();
    uint8_t* data() const { return data_; }

   private:
    friend class DeviceAllocation;
    Access(uint8_t* data, size_t mapped) : data_(data), mapped_(mapped) {}
    uint8_t* data_;
    size_t mapped_;
  };
  std::optional<Access> Open();

  // The explicit copies. False if the range does not lie within bytes().
  bool CopyFromHost(size_t offset, const void* source, size_t bytes);
  bool CopyToHost(size_t offset, void* target, size_t bytes);

 private:
  friend class DeviceMemory;
  DeviceAllocation(DeviceMemory* owner, uint8_t* base, size_t bytes,
                   size_t mapped)
      : owner_(owner), base_(base), bytes_(bytes), mapped_(mapped) {}
  void Free();

  DeviceMemory* owner_;
  uint8_t* base_;
  size_t bytes_;
  size_t mapped_;
};

// The memory of one simulated device.
//
//     DeviceMemory memory(64 << 20);
//     auto picture = memory.Allocate(bytes);   // nullopt: the device is full
//     picture->CopyFromHost(0, pixels, bytes);
//
// Bounded by its capacity. What is freed is kept for the next allocation of
// the same size, as drivers do, since mapping anew costs a fault a page; kept
// ranges count against the capacity and make way when it is needed.
// Thread-safe.
class DeviceMemory {
 public:
  explicit DeviceMemory(size_t capacity) : capacity_(capacity) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  std::optional<DeviceAllocation> Allocate(size_t bytes);

  size_t capacity() const { return capacity_; }
  // Held by allocations that live; kept ranges are not counted.
  size_t in_use() const;

 private:
  friend class DeviceAllocation;
  struct Range {
    uint8_t* base;
    size_t mapped;
  };

  void Keep(uint8_t* base, size_t mapped);

  const size_t capacity_;
  mutable std::mutex mutex_;
  size_t in_use_ = 0;
  size_t kept_bytes_ = 0;
  std::vector<Range> kept_;
};

}  // namespace bulkhead::openreg
