// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bulkhead::ipc {

// The beginning of each region: what the side that can write it tells the
// other one. Cursors count bytes since the start of the session, never wrap and
// are multiples of 8. All accesses are sequentially consistent: that a side
// which goes to sleep sees the last record, or its peer sees that it sleeps,
// takes one total order of both words.
struct RegionHeader {
  // Of the ring in this region.
  alignas(64) std::atomic<uint64_t> write_cursor;
  // Of the ring in the peer's region.
  alignas(64) std::atomic<uint64_t> read_cursor;
  // What this side sleeps for: WakeReason bits (ipc/waiter.h); 0 while awake.
  std::atomic<uint32_t> sleeping;
  uint32_t reserved[13];
};
static_assert(sizeof(RegionHeader) == 128);
static_assert(offsetof(RegionHeader, read_cursor) == 64);
static_assert(offsetof(RegionHeader, sleeping) == 72);
static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

struct RingGeometry {
  // Where the ring's bytes begin in its region.
  static constexpr size_t kRingOffset = 4096;
  // Requests are small, and fewer than the frame pool has slots are in flight.
  static constexpr size_t kRequestRingBytes = 64 * 1024;
  // A scan answers with index chunks of up to one record each.
  static constexpr size_t kReplyRingBytes = 256 * 1024;
  // With its header of 8 bytes. At most half of a ring, so that an empty ring
  // takes any record even after what must be skipped at its end.
  static constexpr size_t kMaxRecordBytes = 32 * 1024;
  static constexpr size_t kMaxMessageWords = kMaxRecordBytes / 8 - 1;

  static constexpr size_t kRequestRegionBytes = kRingOffset + kRequestRingBytes;
  static constexpr size_t kReplyRegionBytes = kRingOffset + kReplyRingBytes;
};

inline RegionHeader* HeaderOf(std::span<std::byte> region) {
  return reinterpret_cast<RegionHeader*>(region.data());
}
inline const RegionHeader* HeaderOf(std::span<const std::byte> region) {
  return reinterpret_cast<const RegionHeader*>(region.data());
}

}  // namespace bulkhead::ipc
