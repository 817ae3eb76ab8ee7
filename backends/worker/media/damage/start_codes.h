// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace bulkhead::worker {

// The most units of one packet that are read. No intact packet has as many.
inline constexpr int kMostUnits = 1 << 12;

// Calls `use` with each unit of a packet that is not empty and stands behind a
// start code (00 00 01), from the byte on that names its kind. A unit of H.264
// and HEVC may have zero bytes behind it. Returns whether there is any start
// code with a byte behind it.
template <typename Use>
bool ForEachStartCode(std::span<const uint8_t> data, const Use& use) {
  static constexpr uint8_t kStart[] = {0, 0, 1};
  bool found = false;
  for (int units = 0; units < kMostUnits; ++units) {
    const auto start = std::search(data.begin(), data.end(), std::begin(kStart),
                                   std::end(kStart));
    if (data.end() - start <= 3) break;
    data = data.subspan(static_cast<size_t>(start - data.begin()) + 3);
    const auto next = std::search(data.begin(), data.end(), std::begin(kStart),
                                  std::end(kStart));
    if (next != data.begin()) {
      use(data.first(static_cast<size_t>(next - data.begin())));
    }
    found = true;
  }
  return found;
}

}  // namespace bulkhead::worker
