// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "ipc/index_entry.h"

namespace bulkhead::frames {

// The index of a stream, with one entry for each frame. One scan of the packets
// finds the entries; Finish() sorts them into presentation order. The host
// keeps the index, so that it survives any worker.
//
// A stream cannot be addressed by time if its packets have no timestamps, have
// ambiguous ones, or have timestamps that contradict the order of the pictures.
// Then timestamped() is false, frames are counted as they are decoded, and only
// decoding from the beginning finds them. Only the packets decide this, so a
// frame has the same number whatever was asked for before.
//
// Trust: the entries come from a worker. They decide which frame is asked for,
// never where memory is read. Value type.
class FrameIndex {
 public:
  // Where decoding may begin in order to get the pictures of a pass from the
  // beginning.
  enum class Access {
    kChecked,    // at entries with a check, which a scan gives
    kKeyframes,  // at keyframes, as whoever made the index promises
  };

  // Add() refuses more than `max_frames` entries.
  explicit FrameIndex(uint64_t max_frames = UINT64_MAX,
                      Access access = Access::kChecked)
      : max_frames_(max_frames), access_(access) {}

  // Returns the error for a stream with more than `max_frames` frames.
  static Status TooManyFrames(uint64_t max_frames);

  // Adds entries in demuxing order. Returns kResourceExhausted beyond the
  // maximum.
  Status Add(std::span<const ipc::IndexEntry> entries_untrusted);
  // Sorts the entries. Call it once, after the last Add().
  void Finish();

  size_t size() const { return entries_.size(); }
  bool timestamped() const { return timestamped_; }
  // Returns whether the entries are in the order in which the frames are shown,
  // with their times. True also if a decoder may give some of the frames other
  // timestamps or none, so that only counting finds them.
  bool has_times() const { return has_times_; }
  const ipc::IndexEntry& operator[](size_t i) const { return entries_[i]; }
  // Returns the numbers of the keyframes, ascending.
  const std::vector<uint32_t>& keyframes() const { return keyframes_; }
  // Returns the number of the frame with the timestamp `pts`, or nullopt if
  // there is none. Requires timestamped().
  std::optional<size_t> Find(int64_t pts) const;
  // Returns the number of the last frame at or before frame `i` at which
  // decoding may begin; nullopt if that is the beginning of the stream alone.
  std::optional<size_t> EntryOf(size_t i) const;

 private:
  bool IsEntry(const ipc::IndexEntry& entry) const;
  bool EntriesAscend() const;

  uint64_t max_frames_;
  Access access_;
  std::vector<ipc::IndexEntry> entries_;
  // Ascending positions in entries_.
  std::vector<uint32_t> keyframes_;
  std::vector<uint32_t> access_points_;
  bool timestamped_ = true;
  bool has_times_ = true;
};

}  // namespace bulkhead::frames
