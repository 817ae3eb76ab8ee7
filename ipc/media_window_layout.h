// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bulkhead::ipc {

// The layout of a media window: memory through which a host serves media to a
// worker that has no descriptor of the media. The host maps the window
// read-write, the worker read-only. FORMAT.md ("Media") describes the exchange.
//
// The header lies at the start of the window, the data of the last read at
// kWindowDataOffset. After a `read` record of the worker, the host changes the
// data and `bytes`, and then stores the record's serial in `served`. At all
// other times, the host leaves the window unchanged.
struct MediaWindowHeader {
  // The serial of the last read that was served, or 0 before the first.
  alignas(64) std::atomic<uint32_t> served;
  // The number of bytes served: up to the end of the media or of the window,
  // whichever comes first.
  std::atomic<uint64_t> bytes;
};
static_assert(sizeof(MediaWindowHeader) == 64);
static_assert(std::atomic<uint32_t>::is_always_lock_free);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

inline constexpr size_t kWindowDataOffset = 4096;
// libavformat reads 32 KiB at a time, so one window serves eight of its reads.
inline constexpr size_t kWindowDataBytes = 256 * 1024;
inline constexpr size_t kWindowRegionBytes =
    kWindowDataOffset + kWindowDataBytes;

inline MediaWindowHeader* WindowHeaderOf(std::span<std::byte> region) {
  return reinterpret_cast<MediaWindowHeader*>(region.data());
}
inline const MediaWindowHeader* WindowHeaderOf(
    std::span<const std::byte> region) {
  return reinterpret_cast<const MediaWindowHeader*>(region.data());
}

}  // namespace bulkhead::ipc
