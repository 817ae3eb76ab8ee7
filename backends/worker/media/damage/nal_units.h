// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/worker/media/damage/start_codes.h"

namespace bulkhead::worker {

// Returns how many bytes of length stand before each NAL unit of the packets of
// H.264 (`is_hevc` false) or HEVC, by the stream's extradata; 0 if start codes
// stand there.
inline uint32_t NalLengthBytes(bool is_hevc,
                               std::span<const uint8_t> extradata) {
  if (extradata.empty() || extradata[0] != 1) return 0;
  const size_t at = is_hevc ? 21 : 4;
  return extradata.size() > at ? (extradata[at] & 3) + 1 : 0;
}

// Calls `use` with each NAL unit of `data` that is not empty, from its header
// byte on. `length_bytes` is that of NalLengthBytes().
template <typename Use>
void ForEachNalUnit(std::span<const uint8_t> data, uint32_t length_bytes,
                    const Use& use) {
  if (length_bytes == 0) {
    ForEachStartCode(data, use);
    return;
  }
  for (int units = 0; units < kMostUnits && data.size() > 3; ++units) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < length_bytes; ++i) bytes = bytes << 8 | data[i];
    data = data.subspan(length_bytes);
    bytes = std::min(bytes, data.size());
    if (bytes > 0) use(data.first(bytes));
    data = data.subspan(bytes);
  }
}

}  // namespace bulkhead::worker
