// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/frame.h>
#include <bulkhead/status.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bulkhead::writers {

// A view of a picture, which the writers take. The pixels belong to a Frame, a
// ContactSheet or a test, and must outlive the view. A picture is either RGB,
// or native: the planes of the decoder's own pixel format.
struct Picture {
  // The pixels of an RGB picture; null for a native picture.
  const std::byte* pixels = nullptr;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t stride = 0;  // The bytes from one row to the next.
  Dtype dtype = Dtype::kUint8;
  uint64_t index = 0;              // The number of the frame, from 0.
  std::optional<int64_t> pts;      // In ticks of the stream's time base.
  int64_t duration = 0;            // In the same ticks.
  std::vector<Plane> planes = {};  // Of a native picture, else empty.
  Color color = {};
  FieldOrder field_order = FieldOrder::kProgressive;

  bool native() const { return !planes.empty(); }
  // row() and row_bytes() are for RGB pictures only.
  std::span<const std::byte> row(uint32_t y) const {
    return {pixels + size_t{y} * stride, row_bytes()};
  }
  size_t row_bytes() const { return 3 * BytesOf(dtype) * width; }
  // Returns the number of bytes of all rows or planes, without padding.
  uint64_t bytes() const;
  // Calls `visit` with each row of the picture, plane by plane for a native
  // one. Stops at the first error and returns it.
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

}  // namespace bulkhead::writers
