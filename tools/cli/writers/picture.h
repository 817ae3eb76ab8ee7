// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/frame.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace bulkhead::cli {

// An RGB picture for the writers: that of a Frame, or one drawn by a test. A
// view, which does not own the pixels.
struct Picture {
  const std::byte* pixels = nullptr;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t stride = 0;  // The bytes from one row to the next.
  Dtype dtype = Dtype::kUint8;
  uint64_t index = 0;
  std::optional<int64_t> pts;
  int64_t duration = 0;

  std::span<const std::byte> row(uint32_t y) const {
    return {pixels + size_t{y} * stride, row_bytes()};
  }
  size_t row_bytes() const { return 3 * BytesOf(dtype) * width; }
  uint64_t bytes() const { return uint64_t{row_bytes()} * height; }
};

// Returns "uint8" or "float32".
const char* NameOf(Dtype dtype);

// Returns a view of the frame's pixels, valid as long as `frame`.
Picture PictureOf(const Frame& frame);

}  // namespace bulkhead::cli
