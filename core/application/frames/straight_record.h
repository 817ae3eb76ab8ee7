// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/application/frames/frame_index.h"

namespace bulkhead::frames {

// Records, for each frame of an index, whether straight passes (passes from the
// beginning of the stream) showed it sound, damaged or not at all. With this,
// it decides at which frames, called entries, decoding may begin after a seek.
//
// The problem: FrameAt() must return the frame that a straight pass shows, but
// must seek to be quick. The index says at which frames decoding may begin, but
// this can be wrong. In a damaged stream, the pictures depend on whatever the
// decoder decoded before. After a seek, libavformat guesses two things: the
// times and positions of packets in raw streams, and which leading pictures of
// an open GOP to drop.
//
// So a pass from an entry is believed only as long as it shows every frame of
// the index from the entry on: in order, undamaged, and at the same offset in
// the file. If it does not, a straight pass decides, and its frames are
// recorded. An entry whose pass contradicts the record is not used again. An
// entry with damage between it and the wanted frame is not used either: after
// damage, a picture may depend on everything that was decoded before.
//
//     record.EnterAt(entry_pts);            // or record.EnterAtBeginning()
//     while (!record.Passed(i)) {
//       // for each picture, in order
//       switch (record.Saw(pts, position, damaged)) …
//     }
//
// Only for an index with timestamps, which must outlive the record. Value type.
class StraightRecord {
 public:
  // The state of a frame in straight passes; kUnknown: none has reached it.
  enum class Frame : uint8_t { kUnknown, kSound, kDamaged, kMissing };
  // Says whether a pass can be believed so far.
  enum class Verdict {
    kAgrees,
    kContradicts,  // the entry is unfit: try an earlier entry
    kDoubtful,     // only a straight pass can show the wanted frame
  };

  StraightRecord() = default;
  explicit StraightRecord(const FrameIndex* index)
      : index_(index), frames_(index->size()), unfit_(index->size()) {}

  Frame operator[](size_t i) const { return frames_[i]; }
  // Returns true if a straight pass found frame `i` damaged or missing.
  bool KnownDamaged(size_t i) const {
    return frames_[i] == Frame::kDamaged || frames_[i] == Frame::kMissing;
  }

  // Returns the last usable entry up to and including frame `i`, or nullopt if
  // decoding must begin at the beginning of the stream.
  std::optional<size_t> FindEntry(size_t i) const;

  // Begin the next pass, from an entry or from the beginning. EnterAt() returns
  // false if no frame has the timestamp `entry_pts`, or if the entry is unfit.
  bool EnterAt(int64_t entry_pts);
  void EnterAtBeginning();
  bool from_beginning() const { return from_beginning_; }

  // Takes the next picture of the pass. `position` is the offset of its packet
  // in the file; -1: unknown. After a verdict other than kAgrees, the caller
  // must begin a new pass.
  Verdict Saw(int64_t pts, int64_t position, bool damaged);
  // Takes the end of the stream. Returns a verdict like Saw().
  Verdict SawEnd();
  // Returns true once the pass has shown or missed frame `i`. After a straight
  // pass, operator[] returns the frame's state.
  bool Passed(size_t i) const { return next_ > i; }

 private:
  // Counts the frames in [next_, end) as missing from the pass.
  Verdict Miss(size_t end);
  // Compares `seen`, the state of frame `i` in this pass, with the record, or,
  // in a straight pass, records it.
  Verdict Meet(size_t i, Frame seen);

  const FrameIndex* index_ = nullptr;
  std::vector<Frame> frames_;
  std::vector<bool> unfit_;  // entries that must not be used again
  bool from_beginning_ = true;
  size_t entry_ = 0;  // the frame at which the pass began
  size_t next_ = 0;   // the frame that the pass should show next
};

}  // namespace bulkhead::frames
