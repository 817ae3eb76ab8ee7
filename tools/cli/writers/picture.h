// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/frame.h>
#include <bulkhead/status.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bulkhead::cli {

// A picture for the writers: a Frame's, or one drawn by a test. A view,
// which does not own the pixels.
struct Picture {
  // The pixels of an RGB picture. Null for a native one, which has `planes`.
  const std::byte* pixels = nullptr;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t stride = 0;  // The bytes from one row to the next.
  Dtype dtype = Dtype::kUint8;
  uint64_t index = 0;
  std::optional<int64_t> pts;
  int64_t duration = 0;
  std::vector<Plane> planes = {};
  Color color = {};
  FieldOrder field_order = FieldOrder::kProgressive;

  bool native() const { return !planes.empty(); }
  // The two members below are for RGB.
  std::span<const std::byte> row(uint32_t y) const {
    return {pixels + size_t{y} * stride, row_bytes()};
  }
  size_t row_bytes() const { return 3 * BytesOf(dtype) * width; }
  // Returns the bytes of all rows, without padding.
  uint64_t bytes() const;
  // Calls `visit` with each row of each plane, from the first to the last,
  // until it returns an error.
  template <typename Visit>
  Status ForEachRow(const Visit& visit) const {
    for (const Plane& plane : planes) {
      for (uint32_t y = 0; y < plane.height; ++y) {
        if (Status status = visit(plane.row(y)); !status.ok()) return status;
      }
    }
    if (native()) return Status();
    for (uint32_t y = 0; y < height; ++y) {
      if (Status status = visit(row(y)); !status.ok()) return status;
    }
    return Status();
  }
};

// Returns "uint8" or "float32".
const char* NameOf(Dtype dtype);

// Returns a view of the frame's pixels, valid as long as `frame`.
Picture PictureOf(const Frame& frame);

}  // namespace bulkhead::cli
