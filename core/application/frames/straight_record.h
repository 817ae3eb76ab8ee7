// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/application/frames/frame_index.h"

namespace bulkhead::frames {

// Records what straight passes, which decode from the beginning, showed of each
// frame of an index. The record decides at which of the index's entries
// decoding may begin.
//
// FrameAt() must return the frame that a straight pass shows, but has to seek
// in order to be quick. The index says at which frames decoding may begin. It
// knows nothing of damage, since a decoder of a damaged stream goes on with
// whatever it had before; nor of what libavformat guesses after a seek: times
// and positions of raw streams, and which pictures of an open GOP are missing.
//
// A pass from an entry is believed as long as it shows each frame of the index
// from the entry on, in order, undamaged and from the same place in the file.
// Otherwise a straight pass decides, and what it shows is recorded. An entry
// that contradicts the record is not used again. Neither is an entry from which
// damage lies on the way to the frame: what a decoder makes up for damage
// depends on everything that it decoded before, however long ago.
//
//     record.EnterAt(entry);                // or record.EnterAtBeginning()
//     while (!record.Passed(i)) {
//       switch (record.Saw(pts, position, damaged)) …   // each picture, in
//       order
//     }
//
// Only for an index with timestamps. Value type.
class StraightRecord {
 public:
  enum class Frame : uint8_t { kUnknown, kSound, kDamaged, kMissing };
  enum class Verdict {
    kAgrees,
    kContradicts,  // the entry is unfit: try an earlier one
    kDoubtful,     // only a straight pass can show it
  };

  StraightRecord() = default;
  explicit StraightRecord(const FrameIndex* index)
      : index_(index), frames_(index->size()), unfit_(index->size()) {}

  Frame operator[](size_t i) const { return frames_[i]; }
  // Returns true if a straight pass found frame `i` damaged or missing.
  bool KnownDamaged(size_t i) const {
    return frames_[i] == Frame::kDamaged || frames_[i] == Frame::kMissing;
  }

  // Returns the last frame at or before frame `i` at which decoding may begin,
  // or nullopt if only the beginning is left.
  std::optional<size_t> FindEntry(size_t i) const;

  // Begins the next pass, at an entry or at the beginning. EnterAt() returns
  // false if no frame of the index has the timestamp `entry_pts`, or if that
  // one is unfit.
  bool EnterAt(int64_t entry_pts);
  void EnterAtBeginning();
  bool from_beginning() const { return from_beginning_; }

  // Takes the next picture of the pass; `position` is its packet's place in the
  // file, or -1. After any verdict other than kAgrees, the caller must begin a
  // new pass.
  Verdict Saw(int64_t pts, int64_t position, bool damaged);
  // Takes the end of the stream. Returns a verdict as Saw() does.
  Verdict SawEnd();
  // Returns true once the pass is past frame `i`. From then on, operator[]
  // returns what the pass showed of the frame.
  bool Passed(size_t i) const { return next_ > i; }

 private:
  // Records the frames from next_ up to, not including, `end` as missing.
  Verdict Miss(size_t end);
  Verdict Meet(size_t i, Frame seen);

  const FrameIndex* index_ = nullptr;
  std::vector<Frame> frames_;
  std::vector<bool> unfit_;
  bool from_beginning_ = true;
  size_t entry_ = 0;
  size_t next_ = 0;
};

}  // namespace bulkhead::frames
