// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "core/application/session/witness.h"
#include "core/application/worker_link/play_request.h"

namespace bulkhead::session {

// The record of the frames that Next() has delivered or reported as damaged:
// where they are in the file, and when they are shown. The witness keeps the
// fingerprints of the same frames. With the record, another worker continues
// where the last one died: it seeks to a recorded point of access (a random
// access point, ipc::IndexEntry::check), and its first frames are compared with
// the recorded ones.
//
// The record is bounded: it has the last frames of the stream. Timestamps and
// offsets come from workers, which may lie. A lie makes frames differ, or leads
// to another packet. Owned by the FrameSequence. Not thread-safe.
class FrameRecord {
 public:
  // One recorded frame.
  struct Stamp {
    int64_t pts;
    int64_t duration;    // 0: unknown
    int64_t position;    // byte of its packet in the file; -1: unknown
    uint32_t check = 0;  // as in ipc::IndexEntry
    bool delivered = false;
  };

  // Borrows `witness`. `most` is the largest number of recorded frames, at
  // least 1.
  FrameRecord(Witness& witness, uint64_t most)
      : witness_(witness), most_(most) {}

  // Appends the frame next(), and drops the first frame if the record is full.
  // `fingerprint` is 0 if the packet yielded no picture.
  void Add(const Stamp& stamp, uint64_t fingerprint);
  void Clear();

  // Returns the number of the frame that is recorded next.
  uint64_t next() const { return dropped_ + stamps_.size(); }
  // Returns whether the record has dropped the first frames of the stream.
  bool has_dropped() const { return dropped_ > 0; }
  size_t size() const { return stamps_.size(); }
  bool empty() const { return stamps_.empty(); }
  const Stamp& operator[](size_t at) const { return stamps_[at]; }
  const Stamp& back() const { return stamps_.back(); }

  // Returns whether all recorded frames have timestamps, in ascending order,
  // and nobody has called Disorder().
  bool ascending() const { return ascending_; }
  // Records that timestamps of the stream repeat.
  void Disorder() { ascending_ = false; }

  // Returns a play that begins at the last point of access up to the frame at
  // `at`, or at the beginning if there is no such point.
  worker_link::PlayRequest PlayTo(size_t at) const;
  // Returns how many of the last `count` frames were delivered.
  uint64_t DeliveredOfLast(uint64_t count) const;

  // The facts that IsSame() compares besides timestamps.
  struct Compared {
    bool positions = false;
    bool durations = false;  // of frames with pictures
    bool pictures = false;
  };
  // Returns whether a frame that comes again is the one at `at`.
  bool IsSame(size_t at, const Stamp& again, uint64_t fingerprint,
              const Compared& compared) const;

 private:
  Witness& witness_;
  const uint64_t most_;
  std::deque<Stamp> stamps_;
  std::optional<Stamp> earlier_point_;  // last point of access before stamps_
  uint64_t dropped_ = 0;                // number of frames before stamps_
  bool ascending_ = true;
};

}  // namespace bulkhead::session
