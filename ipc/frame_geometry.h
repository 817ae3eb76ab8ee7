// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ipc/error.h"
#include "ipc/pixel_layout.h"

namespace bulkhead::ipc {

// The type of one of the three elements (R, G, B) of a pixel.
enum class ElementType : uint8_t {
  kUint8 = 0,    // values from 0 to 255
  kFloat32 = 1,  // values from 0 to 1
};
constexpr uint32_t BytesPerPixel(ElementType type) {
  return type == ElementType::kFloat32 ? 12 : 3;
}

// One plane of a picture in a slot of the frame pool.
struct PlaneGeometry {
  uint64_t offset = 0;     // the place of the first row in the slot
  uint32_t stride = 0;     // the number of bytes from one row to the next
  uint32_t row_bytes = 0;  // the bytes of a row, without the padding
  uint32_t rows = 0;
  uint64_t bytes = 0;  // the size of the plane, at least stride * rows
  bool operator==(const PlaneGeometry&) const = default;
};

// The memory layout of a picture in a slot of the frame pool. An RGB picture
// has one plane, in which the pixels of a row follow each other, three elements
// each.
struct FrameGeometry {
  uint32_t width;   // in pixels
  uint32_t height;  // in pixels
  uint32_t stride;  // the stride of the first plane
  uint64_t bytes;   // the size of the slot, a multiple of the page size
  uint32_t plane_count;
  std::array<PlaneGeometry, kMostPlanes> planes;
  bool operator==(const FrameGeometry&) const = default;
};

// Computes the layout of an RGB picture. Host and worker each call this
// function, so the layout itself is never sent.
//
// The colour converter works on blocks of pixels. With tightly packed rows it
// leaves the last few pixels of a row unconverted; with padded rows it writes
// past the end of the last row. So stride = align64(bytes of align16(width)
// pixels), and 64 spare bytes follow the last row.
//
// Returns kBadInput for an empty picture, and kResourceExhausted for a picture
// of more than `max_pixels` or larger than a converter can address. Because of
// the padding, `bytes` of a very narrow picture is many times the size of its
// pixels, so a memory budget has to be compared with `bytes`.
Expected<FrameGeometry> RgbGeometry(uint32_t width, uint32_t height,
                                    uint64_t max_pixels,
                                    ElementType type = ElementType::kUint8);

// Returns the number of columns, padding included, for which a row of a native
// picture has room. Decoders expect the same strides in all pictures of a
// stream. So private memory for pictures must have rows of as many columns as
// the slots have.
uint64_t NativeColumns(const PixelLayout& layout, uint32_t width);

// Computes the layout of a native picture, whose planes lie in the slot as a
// decoder made them.
//
// Decoders write whole blocks, and a few bytes after the last block. So they
// also write outside the picture. Each plane has room for the rows and columns
// that the decoders of libavcodec and libdav1d ask for, so a decoder can write
// to the slot itself. Strides and offsets are multiples of 64.
//
// Fails as RgbGeometry does.
Expected<FrameGeometry> NativeGeometry(const PixelLayout& layout,
                                       uint32_t width, uint32_t height,
                                       uint64_t max_pixels);

// Checks for the host the geometry that a worker claims for a published RGB
// picture. Returns kBackendMisbehaved unless the picture lies within its slot
// of `slot_bytes` bytes, and each row starts at an aligned element.
Expected<void> ValidatePublished(uint32_t width_untrusted,
                                 uint32_t height_untrusted,
                                 uint32_t stride_untrusted, uint64_t slot_bytes,
                                 ElementType type = ElementType::kUint8);

}  // namespace bulkhead::ipc
