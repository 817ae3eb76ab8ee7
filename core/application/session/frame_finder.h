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
  PublishedFrame picture;
};

// Finds a frame by number: the picture that a pass from the beginning shows for
// the number, regardless of earlier requests.
//
// Where the index has timestamps, the finder seeks, and StraightRecord judges
// whether the frames that come are those of a straight pass. Where it has none,
// the finder counts frames from the beginning. In both cases the finder
// continues from the last frame that it found if that is nearer.
//
// Damage and notes that a pass from the beginning meets go into the log. Those
// that a pass from an entry meets do not, because the seek may have caused
// them. No seek leads past damage that is in the log, whichever pass met the
// damage.
//
// A worker has one play at a time: call Forget() when the play was used for
// something else. Errors are those of VideoLink; after an error the finder has
// forgotten the play. Not thread-safe.
class FrameFinder {
 public:
  // Returns why a pass does not give a frame of the index: kPromised, or
  // kShrunk.
  using WhyMissing = std::function<ipc::DamageSign()>;

  // `index` must be complete. `log` must outlive the finder. With
  // `shows_damaged`, a damaged picture of a pass from the beginning is found
  // like a sound one.
  FrameFinder(FrameIndex index, DamageLog& log, bool shows_damaged,
              WhyMissing why_missing);
  FrameFinder(const FrameFinder&) = delete;
  FrameFinder& operator=(const FrameFinder&) = delete;

  const FrameIndex& index() const { return index_; }

  // The frame, or the damage that stands in place of the frame.
  using Found = std::variant<FoundFrame, Damage>;
  // `i` must be less than index().size().
  Result<Found> Find(VideoLink& video, uint64_t i);
  void Forget() { following_ = false; }

  // Finds the sound frame that is nearest to frame `i` in time. Returns the
  // damage of frame `i` if there is no sound frame.
  Result<Found> FindNearest(VideoLink& video, uint64_t i);

 private:
  using Verdict = StraightRecord::Verdict;
  struct Pass {
    Verdict verdict = Verdict::kAgrees;
    std::optional<Found> found;
  };

  Result<Found> FindByTime(VideoLink& video, uint64_t i);
  // Makes one pass, until frame `i` is known or the pass cannot be believed.
  Result<Pass> Seek(VideoLink& video, uint64_t i, bool from_beginning);
  Status Start(VideoLink& video, uint64_t i, bool from_beginning);
  Result<Found> FindByCounting(VideoLink& video, uint64_t i);
  // Finds the first sound frame after `i` that is nearer to `i` than the frame
  // `before`; returns damage if there is none.
  Result<Found> FindLater(VideoLink& video, uint64_t i,
                          std::optional<uint64_t> before);
  // Returns the last frame before `i` that is not known to be damaged.
  std::optional<uint64_t> Before(uint64_t i) const;
  // Returns the time between two frames, in the time base.
  uint64_t Distance(uint64_t a, uint64_t b) const;
  // Adds damage or a note to the log if this pass is one from the beginning.
  void Log(const Damage& damage);

  const FrameIndex index_;
  DamageLog& log_;
  const bool shows_damaged_;
  const WhyMissing why_missing_;
  StraightRecord record_;
  std::map<uint64_t, Damage> damaged_;  // by number, if asked for
  bool following_ = false;  // the worker's play continues after position_
  uint64_t position_ = 0;   // the last frame found; when counting, the next one
  uint64_t counted_ = 0;    // frames of the stream, by a whole pass; 0: unknown
  uint64_t window_ = 1;     // frames decoded ahead; doubled whenever used up
};

}  // namespace bulkhead::session
