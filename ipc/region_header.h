// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bulkhead::ipc {

// The header at the start of each ring region. The side that writes the region
// publishes in it how far it has written and read, and whether it sleeps.
// Cursors count bytes since the start of the session, never wrap and are
// multiples of 8. The reader validates every word: the writer may be a hostile
// worker.
//
// All accesses are sequentially consistent. When a side goes to sleep, either
// it sees the last record or its peer sees that it sleeps. This requires one
// total order of the accesses to the cursor and the sleeping word.
struct RegionHeader {
  // The write cursor of the ring in this region.
  alignas(64) std::atomic<uint64_t> write_cursor;
  // The read cursor of the ring in the peer's region.
  alignas(64) std::atomic<uint64_t> read_cursor;
  // The WakeReason bits (ipc/waiter.h) for which this side sleeps, or 0 while
  // it is awake.
  std::atomic<uint32_t> sleeping;
  // The number of times that this side has woken its peer. The peer sleeps on
  // this word.
  std::atomic<uint32_t> wakes;
  // 1 once the host has closed the session. Only in the host's region.
  std::atomic<uint32_t> closed;
  // The number of frames that the worker has decoded so far in order to publish
  // them. After the death of the worker, this number shows the host at which
  // frame the worker died: the frame that the host waits for, or the frame
  // after that. Only in the worker's region.
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

// The sizes of the rings and of their regions.
struct RingGeometry {
  // The offset of the ring's bytes in its region.
  static constexpr size_t kRingOffset = 4096;
  // Small, since requests are small, and fewer are in flight than the frame
  // pool has slots.
  static constexpr size_t kRequestRingBytes = 64 * 1024;
  // Larger than the request ring, since a scan answers with index chunks that
  // each fill up to one record.
  static constexpr size_t kReplyRingBytes = 256 * 1024;
  // The size of the largest record, including its header of 8 bytes. A record
  // takes at most half of a ring. So an empty ring has room for any record,
  // even if the writer has to skip the bytes at the end of the ring.
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
