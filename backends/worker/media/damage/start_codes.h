// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace bulkhead::worker::damage {

// The most units that are read of one packet. Intact packets have fewer.
inline constexpr int kMostUnits = 1 << 12;

// Returns the offset of the first start code (00 00 01) of `data` at or after
// `from`, or the size of `data`.
inline size_t FindStartCode(std::span<const uint8_t> data, size_t from) {
  for (size_t at = from + 2; at < data.size(); ++at) {
    const void* const one = std::memchr(data.data() + at, 1, data.size() - at);
    if (one == nullptr) break;
    at = static_cast<size_t>(static_cast<const uint8_t*>(one) - data.data());
    if (data[at - 1] == 0 && data[at - 2] == 0) return at - 2;
  }
  return data.size();
}

// Calls `use` with each unit of a packet: the bytes after a start code (00 00
// 01), up to the next start code. The first byte names the kind of the unit. In
// H.264 and HEVC, zero bytes may follow the unit proper. Skips empty units.
// Returns whether there is any start code with a byte after it.
template <typename Use>
bool ForEachStartCode(std::span<const uint8_t> data, const Use& use) {
  bool found = false;
  size_t start = FindStartCode(data, 0);
  for (int units = 0; units < kMostUnits && start + 3 < data.size(); ++units) {
    const size_t begin = start + 3;
    start = FindStartCode(data, begin);
    if (start > begin) use(data.subspan(begin, start - begin));
    found = true;
  }
  return found;
}

}  // namespace bulkhead::worker::damage
