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

// Owns a range of a device's memory. The CPU cannot use its address: as on a
// real accelerator, touching the range outside of an Access is a segmentation
// fault. Move-only. Destruction returns the range to the DeviceMemory, which
// must outlive the allocation.
class DeviceAllocation {
 public:
  DeviceAllocation(DeviceAllocation&& other) noexcept;
  DeviceAllocation& operator=(DeviceAllocation&& other) noexcept;
  ~DeviceAllocation();

  // Lets the CPU read and write the whole range as long as the object lives.
  // Simulated kernels access device memory this way. An allocation can have one
  // Access at a time.
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
  // Makes the range accessible. Returns nullopt if the operating system refuses
  // that.
  std::optional<Access> Open();

 private:
  friend class DeviceMemory;
  DeviceAllocation(DeviceMemory* owner, uint8_t* base, size_t mapped)
      : owner_(owner), base_(base), mapped_(mapped) {}
  void Free();

  DeviceMemory* owner_;
  uint8_t* base_;
  size_t mapped_;  // the bytes of the range, rounded up to whole pages
};

// The memory of one simulated device.
//
//     DeviceMemory memory(64 << 20);
//     auto picture = memory.Allocate(bytes);   // nullopt: the device is full
//     std::memcpy(picture->Open()->data(), pixels, bytes);
//
// The capacity bounds all allocations. As in real drivers, freed ranges are
// kept for later allocations of the same size, since a new mapping costs one
// page fault per page. Kept ranges are unmapped when a new allocation needs
// their part of the capacity. Thread-safe.
class DeviceMemory {
 public:
  explicit DeviceMemory(size_t capacity) : capacity_(capacity) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Returns nullopt if `bytes` is 0, the device is full or mmap() fails.
  std::optional<DeviceAllocation> Allocate(size_t bytes);

  size_t capacity() const { return capacity_; }

 private:
  friend class DeviceAllocation;
  struct Range {
    uint8_t* base;
    size_t mapped;
  };

  // Keeps a range whose allocation was destroyed.
  void Keep(uint8_t* base, size_t mapped);

  const size_t capacity_;
  std::mutex mutex_;
  size_t in_use_ = 0;  // in live allocations, without the kept ranges
  size_t kept_bytes_ = 0;
  std::vector<Range> kept_;
};

}  // namespace bulkhead::openreg
