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

// The index of a stream: one entry for each frame, in presentation order. One
// scan of the packets finds the entries, and Finish() sorts them. The host
// keeps the index, so it survives any worker.
//
// Some streams cannot be addressed by time: their packets have no timestamps,
// or ambiguous ones, or timestamps that contradict the order of the pictures.
// timestamped() is then false: to find frame n, a worker decodes from the
// beginning and counts. timestamped() depends on the packets alone, so earlier
// requests never change the number of a frame.
//
// Trust: the entries come from a hostile worker. They decide which frame is
// asked for, but never where memory is read. Value type.
class FrameIndex {
 public:
  // Says at which frames decoding may begin. The pictures from there on are the
  // same as when decoding from the beginning.
  enum class Access {
    kChecked,    // random access points that a scan found (IndexEntry::check)
    kKeyframes,  // all keyframes, because the maker of the index promises this
  };

  // Add() refuses more than `max_frames` entries.
  explicit FrameIndex(uint64_t max_frames = UINT64_MAX,
                      Access access = Access::kChecked)
      : max_frames_(max_frames), access_(access) {}

  // Returns the error for a stream with more than `max_frames` frames.
  static Status TooManyFrames(uint64_t max_frames);

  // Adds entries in the order of their packets. Returns kResourceExhausted if
  // there would be more than `max_frames`.
  Status Add(std::span<const ipc::IndexEntry> entries_untrusted);
  // Sorts the entries by time, if they have times. Call it once, after the last
  // Add().
  void Finish();

  size_t size() const { return entries_.size(); }
  bool timestamped() const { return timestamped_; }
  // Returns whether every entry has a time of its own, so that the index is in
  // presentation order. If some of these times were derived from decoding times
  // (ipc::IndexEntry::derived), timestamped() is false nevertheless: the
  // decoder's frames may lack them, so frames must be counted.
  bool has_times() const { return has_times_; }
  const ipc::IndexEntry& operator[](size_t i) const { return entries_[i]; }
  // Returns the numbers of the keyframes, ascending.
  const std::vector<uint32_t>& keyframes() const { return keyframes_; }
  // Returns the number of the frame with the timestamp `pts`, or nullopt if
  // there is none. Requires timestamped().
  std::optional<size_t> Find(int64_t pts) const;
  // Returns the number of the last frame, up to and including `i`, at which
  // decoding may begin. Returns nullopt if decoding must begin at the beginning
  // of the stream.
  std::optional<size_t> EntryOf(size_t i) const;

 private:
  // Returns whether decoding may begin at this frame.
  bool IsEntry(const ipc::IndexEntry& entry) const;
  bool EntriesAscend() const;

  uint64_t max_frames_;
  Access access_;
  std::vector<ipc::IndexEntry> entries_;
  // Ascending indices of entries_; access_points_: where IsEntry() is true.
  std::vector<uint32_t> keyframes_;
  std::vector<uint32_t> access_points_;
  bool timestamped_ = true;
  bool has_times_ = true;
};

}  // namespace bulkhead::frames
