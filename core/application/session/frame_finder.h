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

// Finds a frame by number: the picture that a pass from the beginning shows for
// the number, regardless of earlier requests.
//
// Where the index has timestamps, the finder seeks, and StraightRecord judges
// whether a straight pass gives the frames that come. Where it has none, the
// finder counts frames from the beginning. In both cases the finder continues
// from the last frame that it found if that is nearer.
//
// Damage and notes that a pass from the beginning meets go into the log. What a
// pass from an entry meets does not, because the seek may have caused it. No
// seek leads past damage that is in the log, whichever pass met the damage.
//
// Goes on with the worker's play if that is still its own. It fails as
// VideoLink does; after an error the finder begins a new play. Not thread-safe.
class FrameFinder {
 public:
  // Returns why a pass does not give a frame of the index: kPromised, or
  // kShrunk.
  using WhyMissing = std::function<ipc::DamageSign()>;

  // `index` must be complete. `log` must outlive the finder. With
  // `shows_damaged`, a damaged picture of a pass from the beginning is found
  // like a sound one.
  FrameFinder(frames::FrameIndex index, frames::DamageLog& log,
              bool shows_damaged, WhyMissing why_missing);
  FrameFinder(const FrameFinder&) = delete;
  FrameFinder& operator=(const FrameFinder&) = delete;

  const frames::FrameIndex& index() const { return index_; }

  // The frame, or the damage that stands in place of the frame.
  using Found = std::variant<FoundFrame, frames::Damage>;
  // `i` must be less than index().size().
  Result<Found> Find(worker_link::VideoLink& video, uint64_t i);

  // Finds the sound frame that is nearest to frame `i` in time. Returns the
  // damage of frame `i` if there is no sound frame.
  Result<Found> FindNearest(worker_link::VideoLink& video, uint64_t i);

 private:
  using Verdict = frames::StraightRecord::Verdict;
  struct Pass {
    Verdict verdict = Verdict::kAgrees;
    std::optional<Found> found;
  };

  bool Follows(const worker_link::VideoLink& video) const {
    return following_ && video.PlaysFor(this);
  }
  Result<Found> FindByTime(worker_link::VideoLink& video, uint64_t i);
  // Makes one pass, until frame `i` is known or the pass cannot be believed.
  Result<Pass> Seek(worker_link::VideoLink& video, uint64_t i,
                    bool from_beginning);
  Status Start(worker_link::VideoLink& video, uint64_t i, bool from_beginning);
  Result<Found> FindByCounting(worker_link::VideoLink& video, uint64_t i);
  // Finds the first sound frame after `i` that is nearer to `i` than the frame
  // `before`; returns damage if there is none.
  Result<Found> FindLater(worker_link::VideoLink& video, uint64_t i,
                          std::optional<uint64_t> before);
  // Returns the last frame before `i` that is not known to be damaged.
  std::optional<uint64_t> Before(uint64_t i) const;
  // Returns the time between two frames, in the time base.
  uint64_t Distance(uint64_t a, uint64_t b) const;
  // Adds damage or a note to the log if this pass is one from the beginning.
  void Log(const frames::Damage& damage);

  const frames::FrameIndex index_;
  frames::DamageLog& log_;
  const bool shows_damaged_;
  const WhyMissing why_missing_;
  frames::StraightRecord record_;
  std::map<uint64_t, frames::Damage> damaged_;  // by number, if asked for
  bool following_ = false;  // its play continues after position_
  uint64_t position_ = 0;   // the last frame found; when counting, the next one
  uint64_t counted_ = 0;    // frames of the stream, by a whole pass; 0: unknown
  uint64_t window_ = 1;     // frames decoded ahead; doubled whenever used up
};

}  // namespace bulkhead::session
