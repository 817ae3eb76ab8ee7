// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <variant>

#include "core/application/frames/damage_log.h"
#include "core/application/frames/frame_index.h"
#include "core/application/frames/straight_record.h"
#include "core/application/worker_link/video_link.h"
#include "core/include/bulkhead/status.h"
#include "ipc/damage_sign.h"

namespace bulkhead::session {

// A picture and the number of the frame that it shows.
struct FoundFrame {
  uint64_t number;
  worker_link::PublishedFrame picture;
};

// Finds a frame by its number. The result is the picture that a pass from the
// beginning of the stream shows for that number. Earlier requests do not change
// it.
//
// If the index has timestamps, the finder seeks. StraightRecord decides whether
// the frames after the seek are the same as in a pass from the beginning. If
// the index has none, the finder decodes from the beginning and counts. In both
// cases it continues from the last frame that it found if that is nearer.
//
// Damage and notes (of odd packets) are logged only if a pass from the
// beginning meets them, since a seek itself may cause them. Gaps (frames that
// the index lacks) are always logged. The finder never seeks to an entry (a
// frame at which decoding may begin) if the log has damage from the entry to
// the wanted frame.
//
// A worker has one play, that is, one request for frames, at a time
// (VideoLink::Play). The finder continues its own play, or begins a new one if
// another object has begun one since. Errors are those of VideoLink; the next
// call then begins a new play. Owned by the VideoSession. Not thread-safe.
class FrameFinder {
 public:
  // Returns the sign of damage for a frame that the index has and a pass does
  // not show: kPromised or kShrunk.
  using WhyMissing = std::function<ipc::DamageSign()>;

  // `index` must be complete. `log` must outlive the finder. With
  // `shows_damaged`, Find() returns a damaged picture as the frame; without, it
  // returns Damage.
  FrameFinder(frames::FrameIndex index, frames::DamageLog& log,
              bool shows_damaged, WhyMissing why_missing);
  FrameFinder(const FrameFinder&) = delete;
  FrameFinder& operator=(const FrameFinder&) = delete;

  const frames::FrameIndex& index() const { return index_; }

  // The frame, or the damage because of which there is no frame.
  using Found = std::variant<FoundFrame, frames::Damage>;
  // Finds frame `i`, which must be less than index().size().
  Result<Found> Find(worker_link::VideoLink& video, uint64_t i);

  // Finds the sound frame that is nearest to frame `i` in time. Returns the
  // damage of frame `i` if there is no sound frame.
  Result<Found> FindNearest(worker_link::VideoLink& video, uint64_t i);

 private:
  using Verdict = frames::StraightRecord::Verdict;
  // The result of a pass: frame `i`, or a verdict other than kAgrees.
  struct Pass {
    Verdict verdict = Verdict::kAgrees;
    std::optional<Found> found;
  };

  // Returns whether the worker's play is this finder's, and stands where
  // position_ says.
  bool Follows(const worker_link::VideoLink& video) const {
    return following_ && video.PlaysFor(this);
  }
  // Does Find() for an index with timestamps; FindByCounting(), for others.
  Result<Found> FindByTime(worker_link::VideoLink& video, uint64_t i);
  // Makes one pass, or continues the present one, until it has passed frame `i`
  // or StraightRecord rejects the pass.
  Result<Pass> MakePass(worker_link::VideoLink& video, uint64_t i,
                        bool from_beginning);
  // Returns the result of a pass that has passed frame `i`. `published` is the
  // frame's picture, or null if there is none to return. `met` is the damage
  // that the pass has reported at the frame's timestamp, if any.
  Found Conclude(uint64_t i, worker_link::PublishedFrame* published,
                 std::optional<frames::Damage> met);
  // Begins a play that leads to frame `i`: from the last entry up to `i` that
  // StraightRecord allows, or from the beginning.
  Status Start(worker_link::VideoLink& video, uint64_t i, bool from_beginning);
  Result<Found> FindByCounting(worker_link::VideoLink& video, uint64_t i);
  // Finds the first sound frame after `i`. Returns damage if there is none, or
  // if the frame `before` is as near to `i` or nearer.
  Result<Found> FindLater(worker_link::VideoLink& video, uint64_t i,
                          std::optional<uint64_t> before);
  // Returns the last frame before `i` that is known to be sound; for an index
  // without timestamps, the last frame before `i` that exists.
  std::optional<uint64_t> Before(uint64_t i) const;
  // Returns the time between two frames, in units of the time base.
  uint64_t Distance(uint64_t a, uint64_t b) const;
  // Adds damage or a note to the log if the present pass is from the beginning.
  void Log(const frames::Damage& damage);

  const frames::FrameIndex index_;
  frames::DamageLog& log_;
  const bool shows_damaged_;
  const WhyMissing why_missing_;
  frames::StraightRecord record_;
  std::map<uint64_t, frames::Damage> damaged_;  // found so far, by number
  bool following_ = false;  // the finder's play stands where position_ says
  // With timestamps, the number of the last frame that the play has passed.
  // When counting, the number of the next frame that comes.
  uint64_t position_ = 0;
  uint64_t counted_ = 0;  // frames that a whole pass counted; 0: unknown
  uint64_t window_ = 1;   // frames until the play pauses; doubles at each pause
};

}  // namespace bulkhead::session
