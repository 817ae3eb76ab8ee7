// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/damage/mpeg4_layer.h"

#include <algorithm>
#include <bit>

#include "backends/worker/media/damage/header_bits.h"
#include "backends/worker/media/damage/start_codes.h"

namespace bulkhead::worker {

bool IsMpeg4Layer(std::span<const uint8_t> unit) {
  return !unit.empty() && unit[0] >= 0x20 && unit[0] <= 0x2f;
}

Mpeg4Layer ReadMpeg4Layer(std::span<const uint8_t> unit) {
  Mpeg4Layer layer;
  HeaderBits bits(unit.data() + 1, unit.size() - 1);
  bits.Bit();  // random access
  constexpr uint32_t kSimpleStudio = 14;
  constexpr uint32_t kCoreStudio = 15;
  const uint32_t type = bits.Bits(8);
  // These have other headers.
  if (type == kSimpleStudio || type == kCoreStudio) return layer;
  uint32_t version = 1;
  if (bits.Bit() != 0) {
    version = bits.Bits(4);
    bits.Bits(3);  // priority
  }
  if (bits.Bits(4) == 15) bits.Bits(16);  // aspect ratio
  if (bits.Bit() != 0) {                  // control parameters
    bits.Bits(3);
    if (bits.Bit() != 0) {
      for (int i = 0; i < 79; ++i) bits.Bit();  // buffer
    }
  }
  constexpr uint32_t kRectangular = 0;
  constexpr uint32_t kGrayscale = 3;
  const uint32_t shape = bits.Bits(2);
  if (shape == kGrayscale && version != 1) bits.Bits(4);
  bits.Bit();
  const uint32_t resolution = bits.Bits(16);
  if (resolution > 0) {
    layer.time_bits =
        std::max(static_cast<int>(std::bit_width(resolution - 1)), 1);
  }
  bits.Bit();
  if (bits.Bit() != 0) {  // fixed rate
    for (int i = 0; i < layer.time_bits; ++i) bits.Bit();
  }
  if (shape == kRectangular) {
    bits.Bits(1 + 13 + 1);  // width
    bits.Bits(13 + 1);      // height
  }
  layer.interlaced = bits.Bit() != 0;
  return layer;
}

bool Mpeg4DependsOnThreads(std::span<const uint8_t> extradata) {
  bool known = false;
  bool interlaced = false;
  ForEachStartCode(extradata, [&](std::span<const uint8_t> unit) {
    if (!IsMpeg4Layer(unit)) return;
    known = true;
    interlaced = interlaced || ReadMpeg4Layer(unit).interlaced;
  });
  return interlaced || !known;
}

}  // namespace bulkhead::worker
