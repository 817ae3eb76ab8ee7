// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ipc/error.h"

namespace bulkhead::ipc {

// What one of the three numbers of a pixel is.
enum class ElementType : uint8_t {
  kUint8 = 0,    // 0 to 255
  kFloat32 = 1,  // 0 to 1
};
constexpr uint32_t BytesPerPixel(ElementType type) {
  return type == ElementType::kFloat32 ? 12 : 3;
}

// How an RGB picture lies in its slot: pixel after pixel, three elements each.
struct FrameGeometry {
  uint32_t width;
  uint32_t height;
  uint32_t stride;  // bytes from row to row
  uint64_t bytes;   // of the whole slot, a multiple of the page size
};

// The layout that both sides compute for themselves. The colour converter works
// on blocks of pixels: it leaves the last few of a row unconverted where rows
// are packed tightly and writes past the end of the last one where they are
// not. Hence stride = align64(bytes of align16(width) pixels), and 64 spare
// bytes at the end.
//
// kBadInput for an empty picture, kResourceExhausted above `max_pixels` or what
// a converter can address. Padding makes `bytes` of a very narrow picture many
// times that of its pixels: a budget of memory is checked against `bytes`.
Expected<FrameGeometry> RgbGeometry(uint32_t width, uint32_t height,
                                    uint64_t max_pixels,
                                    ElementType type = ElementType::kUint8);

// For the host: whether a picture of this geometry lies within a slot, with its
// rows where its elements may begin. kBackendMisbehaved when not.
Expected<void> ValidatePublished(uint32_t width_untrusted,
                                 uint32_t height_untrusted,
                                 uint32_t stride_untrusted, uint64_t slot_bytes,
                                 ElementType type = ElementType::kUint8);

}  // namespace bulkhead::ipc
