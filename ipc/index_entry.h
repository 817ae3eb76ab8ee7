// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

namespace bulkhead::ipc {

// Stands for a timestamp or position that the stream does not state.
inline constexpr int64_t kNoTimestamp = INT64_MIN;

// Describes one packet of the stream as a scan found it. Entries travel packed
// in IndexChunk (schema/session.capnp), in the byte order of the machine. The
// worker that sends them may be hostile: every field may hold any value.
struct IndexEntry {
  int64_t pts;       // in the stream time base; kNoTimestamp if there is none
  int64_t duration;  // in the stream time base; 0 if unknown
  int64_t position;  // byte of the packet in the file; -1 if unknown
  // At a point of access: a hash of the packet's bytes. At all other packets:
  // 0. A point of access (a random access point) is a packet at which a decoder
  // can begin: from this packet on, it outputs the same pictures as if it had
  // begun at the first packet.
  uint32_t check;
  uint8_t keyframe;  // 0 or 1; readers treat every other value as 1
  // 1 if the packet has no presentation time, or if the presentation time of
  // this or an earlier packet contradicts the order of the pictures; 0 if not.
  // Readers treat every other value as 1.
  uint8_t disordered;
  // 1 if the packet has no presentation time, but `pts` was derived from
  // decoding times, and nothing contradicts the order of the pictures.
  // `disordered` is then 1, too, but the frame is shown at `pts`. Readers treat
  // every other value as 0.
  uint8_t derived;
  uint8_t reserved;  // written as zero, never read
};
static_assert(sizeof(IndexEntry) == 32);
static_assert(alignof(IndexEntry) == 8);
static_assert(std::is_trivially_copyable_v<IndexEntry>);

}  // namespace bulkhead::ipc
