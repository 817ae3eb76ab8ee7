// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bulkhead::ipc {

// The header at the start of each ring region. The side that writes the region
// uses it to show the other side how far it has written and read, and whether
// it sleeps. Cursors count bytes since the start of the session, never wrap and
// are multiples of 8.
//
// All accesses are sequentially consistent. Before a side goes to sleep, it
// must see the last record or its peer must see that it sleeps. That takes one
// total order of the cursor and the sleeping word.
struct RegionHeader {
  // The write cursor of the ring in this region.
  alignas(64) std::atomic<uint64_t> write_cursor;
  // The read cursor of the ring in the peer's region.
  alignas(64) std::atomic<uint64_t> read_cursor;
  // The WakeReason bits (ipc/waiter.h) for which this side sleeps, or 0 while
  // it is awake.
  std::atomic<uint32_t> sleeping;
  // Counts how often this side has woken its peer. The peer sleeps on this
  // word.
  std::atomic<uint32_t> wakes;
  // In the host's region: 1 once the host has closed the session. Unused in the
  // worker's region.
  std::atomic<uint32_t> closed;
  // In the worker's region: how many of the frames that it publishes the worker
  // has decoded so far. Once the worker is dead, the host learns by it whether
  // the death interrupted the decoding of the frame that the host waits for, or
  // of the one after it. Unused in the host's region.
  std::atomic<uint32_t> decoded;
  uint32_t reserved[10];
};
static_assert(sizeof(RegionHeader) == 128);
static_assert(offsetof(RegionHeader, read_cursor) == 64);
static_assert(offsetof(RegionHeader, sleeping) == 72);
static_assert(offsetof(RegionHeader, wakes) == 76);
static_assert(offsetof(RegionHeader, closed) == 80);
static_assert(offsetof(RegionHeader, decoded) == 84);
static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

struct RingGeometry {
  // The offset of the ring's bytes in its region.
  static constexpr size_t kRingOffset = 4096;
  // Requests are small, and fewer are in flight than the frame pool has slots.
  static constexpr size_t kRequestRingBytes = 64 * 1024;
  // Larger than the request ring, since a scan answers with index chunks that
  // each fill up to one record.
  static constexpr size_t kReplyRingBytes = 256 * 1024;
  // The size of the largest record, including its header of 8 bytes. A record
  // takes at most half of a ring, so that an empty ring has room for any record
  // even after the bytes that a writer skips at the end of the ring.
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
