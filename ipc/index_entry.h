// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

namespace bulkhead::ipc {

// A timestamp or position that the stream does not tell.
inline constexpr int64_t kNoTimestamp = INT64_MIN;

// One packet of the stream as a scan found it. Travels packed in IndexChunk
// (schema/session.capnp), in the byte order of the machine. Hostile like
// everything that a worker sends: any value may stand in any field.
struct IndexEntry {
  int64_t pts;       // stream time base; kNoTimestamp if the packet has none
  int64_t duration;  // stream time base; 0 if unknown
  uint8_t keyframe;  // 0 or 1; readers take anything else for 1
  // 1: the packet has no presentation time, or one up to here contradicts the
  // order of the pictures. Readers take anything but 0 for 1.
  uint8_t disordered;
  uint8_t reserved[6];  // written as zero, not read
};
static_assert(sizeof(IndexEntry) == 24);
static_assert(alignof(IndexEntry) == 8);
static_assert(std::is_trivially_copyable_v<IndexEntry>);

}  // namespace bulkhead::ipc
