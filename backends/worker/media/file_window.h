// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/worker/media/media_bytes.h"

namespace bulkhead::worker {

// Reads a file in small pieces that mostly follow each other, with few reads. A
// value type.
class FileWindow {
 public:
  FileWindow(MediaBytes bytes, int64_t size) : bytes_(bytes), size_(size) {}

  // Returns up to `count` bytes from `offset` on, fewer at the end of the file
  // and after a failed read. Valid until the next call.
  std::span<const uint8_t> At(int64_t offset, size_t count);
  int64_t size() const { return size_; }

 private:
  MediaBytes bytes_;
  int64_t size_;
  std::vector<uint8_t> window_;
  int64_t start_ = 0;
};

}  // namespace bulkhead::worker
