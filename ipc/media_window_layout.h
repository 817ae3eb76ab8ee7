// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bulkhead::ipc {

// The beginning of the memory through which a host serves media that a worker
// has no descriptor of. The host writes all of it, the worker reads. What is
// behind kWindowDataOffset and the other words are the host's to change from
// the worker's `read` record until it stores that read's serial here.
struct MediaWindowHeader {
  // Of the last read that was served; 0: none.
  alignas(64) std::atomic<uint32_t> served;
  // How many bytes it got: all up to the end of the media or of the window.
  std::atomic<uint64_t> bytes;
};
static_assert(sizeof(MediaWindowHeader) == 64);
static_assert(std::atomic<uint32_t>::is_always_lock_free);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

inline constexpr size_t kWindowDataOffset = 4096;
// Eight of libavformat's reads.
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
