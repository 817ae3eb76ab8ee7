// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/application/frames/frame_index.h"

namespace bulkhead::session {

// What decoding from the beginning shows of each frame of an index, as far as
// it was seen, and with it which keyframes are fit to begin at.
//
// FrameAt owes the frame of a straight pass, and seeks to be quick. Decoding
// that begins at a keyframe gives the same pictures only if that keyframe is a
// clean entry: an open GOP's leading pictures are missing, an intra refresh
// needs many frames to be whole, a damaged stream goes on with what it had.
// A pass from a keyframe is believed as long as it shows each frame of the
// index from the keyframe on, in order and undamaged. Otherwise the beginning
// decides, and what it shows is recorded. A keyframe that contradicts the
// record is not used again; nor is any from which the way to a frame leads past
// damage: what a decoder makes up for that, and what follows builds on, it
// takes from whatever it decoded before, however long ago.
//
//     record.EnterAt(keyframe);               // or record.EnterAtBeginning()
//     while (!record.Reached(i)) {
//       switch (record.Saw(pts, damaged)) …   // each picture, in its order
//     }
//
// For an index with timestamps. Value type.
class StraightRecord {
 public:
  enum class Frame : uint8_t { kUnknown, kSound, kDamaged, kMissing };
  enum class Verdict {
    kAgrees,
    kContradicts,  // the keyframe is unfit
    kDoubtful,     // only the beginning can tell
  };

  StraightRecord() = default;
  explicit StraightRecord(const FrameIndex* index)
      : index_(index), frames_(index->size()), unfit_(index->size()) {}

  Frame operator[](size_t i) const { return frames_[i]; }
  // By a pass from the beginning.
  bool KnownDamaged(size_t i) const {
    return frames_[i] == Frame::kDamaged || frames_[i] == Frame::kMissing;
  }

  // The last keyframe at or before frame `i` that may be begun at; false: there
  // is none, begin at the beginning.
  bool FindEntry(size_t i, size_t* keyframe) const;

  // The pass that follows begins with this packet. False: no keyframe of the
  // index is there, or an unfit one.
  bool EnterAt(int64_t keyframe_pts);
  void EnterAtBeginning();
  bool from_beginning() const { return from_beginning_; }

  // The pass showed a picture. After another verdict than kAgrees a new pass
  // has to begin.
  Verdict Saw(int64_t pts, bool damaged);
  // The pass ended.
  Verdict SawEnd();
  // Whether the pass has come past frame `i`: operator[] tells what it was.
  bool Passed(size_t i) const { return next_ > i; }

 private:
  // Frames up to `end` did not come.
  Verdict Miss(size_t end);
  Verdict Meet(size_t i, Frame seen);

  const FrameIndex* index_ = nullptr;
  std::vector<Frame> frames_;
  std::vector<bool> unfit_;
  bool from_beginning_ = true;
  size_t entry_ = 0;
  size_t next_ = 0;
};

}  // namespace bulkhead::session
