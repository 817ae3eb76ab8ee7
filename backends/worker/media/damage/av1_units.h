// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bulkhead::worker::damage {

// Types of open bitstream units (OBUs).
inline constexpr uint32_t kAv1SequenceHeader = 1;
inline constexpr uint32_t kAv1FrameHeader = 3;
inline constexpr uint32_t kAv1Frame = 6;

// The size in bytes of the header of an av1C record, the extradata of AV1. Open
// bitstream units follow the header.
inline constexpr size_t kAv1RecordBytes = 4;

// Calls `use` with the type and the payload of each open bitstream unit of
// `data` (AV1 bitstream specification, section 5.3). Returns false at a unit
// that is malformed.
template <typename Use>
bool ForEachAv1Unit(std::span<const uint8_t> data, const Use& use) {
  while (!data.empty()) {
    const uint32_t type = data[0] >> 3 & 0xf;
    const size_t head = (data[0] & 4) != 0 ? 2 : 1;
    const bool has_size = (data[0] & 2) != 0;
    if ((data[0] & 0x80) != 0 || data.size() < head) return false;
    data = data.subspan(head);
    size_t size = data.size();
    if (has_size) {
      size = 0;
      size_t bytes = 0;
      bool more = true;
      for (; more && bytes < 5 && bytes < data.size(); ++bytes) {
        size |= size_t{data[bytes] & 0x7fu} << (7 * bytes);
        more = (data[bytes] & 0x80) != 0;
      }
      data = data.subspan(bytes);
      if (more || size > data.size()) return false;
    }
    use(type, data.first(size));
    data = data.subspan(size);
  }
  return true;
}

}  // namespace bulkhead::worker::damage
