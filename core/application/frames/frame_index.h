// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "ipc/index_entry.h"

namespace bulkhead::session {

// Where each frame of a stream is, in presentation order: what one scan of the
// packets found, sorted by timestamp. Kept by the host, so that it survives any
// worker.
//
// A stream whose packets tell no or ambiguous timestamps, or in another order
// than that of the pictures, cannot be addressed by time: then timestamped() is
// false, frames are counted as they are decoded, and only decoding from the
// beginning finds them. Nothing but the packets decides it, so a frame has one
// number, whatever was asked for before.
//
// The entries came from a worker: they decide which frame is asked for, never
// where memory is read. Value type.
class FrameIndex {
 public:
  // Of at most so many frames.
  explicit FrameIndex(uint64_t max_frames = UINT64_MAX)
      : max_frames_(max_frames) {}

  // The error of a stream with more.
  static Status TooManyFrames(uint64_t max_frames);

  // Adds entries in demuxing order. kResourceExhausted beyond the maximum.
  Status Add(std::span<const ipc::IndexEntry> entries_untrusted);
  // Sorts; call once, after the last Add.
  void Finish();

  size_t size() const { return entries_.size(); }
  bool timestamped() const { return timestamped_; }
  const ipc::IndexEntry& operator[](size_t i) const { return entries_[i]; }
  // Where the keyframes are, ascending.
  const std::vector<uint32_t>& keyframes() const { return keyframes_; }
  // The frame of that timestamp. Only for an index with timestamps.
  std::optional<size_t> Find(int64_t pts) const;
  // The last keyframe at or before frame `i`; 0 if there is none.
  size_t KeyframeOf(size_t i) const;

 private:
  bool KeyframesAscend() const;

  uint64_t max_frames_;
  std::vector<ipc::IndexEntry> entries_;
  std::vector<uint32_t> keyframes_;  // ascending positions in entries_
  bool timestamped_ = true;
};

}  // namespace bulkhead::session
