// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/worker/media/damage/header_bits.h"
#include "backends/worker/media/damage/start_codes.h"

namespace bulkhead::worker::damage {

// Returns the size in bytes of the length prefix of NAL units in packets of
// H.264 (`is_hevc` false) or HEVC, from the stream's extradata. Returns 0 if
// units have start codes instead (Annex B).
inline uint32_t NalLengthBytes(bool is_hevc,
                               std::span<const uint8_t> extradata) {
  if (extradata.empty() || extradata[0] != 1) return 0;
  const size_t at = is_hevc ? 21 : 4;
  return extradata.size() > at ? (extradata[at] & 3) + 1 : 0;
}

// Calls `use` with each NAL unit of `data` that is not empty, from its header
// byte on. `length_bytes` is from NalLengthBytes().
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

// Calls `use` with the type and the payload of each message of an SEI unit
// whose header has `header_bytes` (ITU-T H.264, section 7.3.2.3.1; H.265,
// section 7.3.5). Reads only the first 512 bytes, so the last payload may be
// cut off.
template <typename Use>
void ForEachSeiMessage(std::span<const uint8_t> unit, size_t header_bytes,
                       const Use& use) {
  if (unit.size() <= header_bytes) return;
  const auto bytes = WithoutEscapes(unit.subspan(header_bytes), 512);
  std::span<const uint8_t> rest(bytes);
  while (rest.size() > 2) {
    uint32_t number[2] = {};  // type, bytes
    for (uint32_t& value : number) {
      while (!rest.empty() && rest[0] == 0xff) {
        value += 0xff;
        rest = rest.subspan(1);
      }
      if (rest.empty()) return;
      value += rest[0];
      rest = rest.subspan(1);
    }
    const size_t size = std::min<size_t>(number[1], rest.size());
    use(number[0], rest.first(size));
    rest = rest.subspan(size);
  }
}

}  // namespace bulkhead::worker::damage
