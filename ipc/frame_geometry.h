// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ipc/error.h"

namespace bulkhead::ipc {

// How an RGB24 picture lies in its slot.
struct FrameGeometry {
  uint32_t width;
  uint32_t height;
  uint32_t stride;  // bytes from row to row
  uint64_t bytes;   // of the whole slot, a multiple of the page size
};

// The layout that both sides compute for themselves. The colour converter works
// on blocks of pixels: it leaves the last few of a row unconverted where rows
// are packed tightly and writes past the end of the last one where they are
// not. Hence stride = align64(3 * align16(width)), and 64 spare bytes at the
// end.
//
// kBadInput for an empty picture, kResourceExhausted above `max_pixels` or what
// a converter can address. Padding makes `bytes` of a very narrow picture many
// times 3 * width * height: a budget of memory is checked against `bytes`.
Expected<FrameGeometry> RgbGeometry(uint32_t width, uint32_t height,
                                    uint64_t max_pixels);

// For the host: whether a picture of this geometry lies within a slot.
// kBackendMisbehaved when not.
Expected<void> ValidatePublished(uint32_t width_untrusted,
                                 uint32_t height_untrusted,
                                 uint32_t stride_untrusted,
                                 uint64_t slot_bytes);

}  // namespace bulkhead::ipc
