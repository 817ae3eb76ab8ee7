// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <span>

namespace bulkhead::benchmark {

// Zeroed memory that this process shares with the children that it forks later.
class SharedMemory {
 public:
  explicit SharedMemory(size_t bytes) : bytes_(bytes) {
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory_ == MAP_FAILED) abort();
  }
  ~SharedMemory() { munmap(memory_, bytes_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::span<std::byte> bytes() const {
    return {static_cast<std::byte*>(memory_), bytes_};
  }
  // Returns the start of the memory as a T. Zeroed memory must be a valid T.
  template <typename T>
  T& as() const {
    return *static_cast<T*>(memory_);
  }

 private:
  size_t bytes_;
  void* memory_;
};

}  // namespace bulkhead::benchmark
