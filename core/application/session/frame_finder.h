// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <variant>

#include "core/application/frames/damage_log.h"
#include "core/application/frames/frame_index.h"
#include "core/application/frames/straight_record.h"
#include "core/application/worker_link/video_link.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

struct FoundFrame {
  uint64_t number;
  PublishedFrame picture;
};

// Finds the frame of a number: the picture that a pass from the beginning shows
// for it, whatever was asked for before.
//
// Where the index has timestamps it seeks, and StraightRecord judges whether
// what comes is what a straight pass shows; otherwise it counts from the
// beginning. Goes onward from the last frame where that is nearer than a seek.
//
// Damage that a pass from the beginning meets goes into the log; what a pass
// from a keyframe meets may be the seek's fault. No seek leads past damage that
// is in the log, whoever met it.
//
// One worker's play serves one purpose: Forget() whenever it served another.
// Failures are those of the link, after which the play is forgotten. Not
// thread-safe.
class FrameFinder {
 public:
  // `log` outlives it. The index is complete.
  FrameFinder(FrameIndex index, DamageLog& log);
  FrameFinder(const FrameFinder&) = delete;
  FrameFinder& operator=(const FrameFinder&) = delete;

  const FrameIndex& index() const { return index_; }

  using Found = std::variant<FoundFrame, Damage>;
  // `i` < index().size().
  Result<Found> Find(VideoLink& video, uint64_t i);
  void Forget() { following_ = false; }

  // The sound frame that is nearest to frame `i`; the Damage of frame `i` if
  // there is none.
  Result<Found> FindNearest(VideoLink& video, uint64_t i);

 private:
  using Verdict = StraightRecord::Verdict;
  struct Pass {
    Verdict verdict = Verdict::kAgrees;
    std::optional<Found> found;
  };

  Result<Found> FindByTime(VideoLink& video, uint64_t i);
  // One play, until frame `i` is known or the pass is not to be believed.
  Result<Pass> Seek(VideoLink& video, uint64_t i, bool from_beginning);
  Status Start(VideoLink& video, uint64_t i, bool from_beginning);
  Result<Found> FindByCounting(VideoLink& video, uint64_t i);
  // The first sound frame behind `i` that is nearer than `before`; else Damage.
  Result<Found> FindLater(VideoLink& video, uint64_t i,
                          std::optional<uint64_t> before);
  // The last frame before `i` that may be sound.
  std::optional<uint64_t> Before(uint64_t i) const;
  uint64_t Distance(uint64_t a, uint64_t b) const;
  void Log(const Damage& damage);

  const FrameIndex index_;
  DamageLog& log_;
  StraightRecord record_;
  std::map<uint64_t, Damage> damaged_;  // that were asked for
  bool following_ = false;              // the play goes on behind position_
  uint64_t position_ = 0;  // the last frame found; when counting, the next
  uint64_t counted_ = 0;   // frames of a whole pass, 0: not known
  uint64_t window_ = 1;    // frames decoded ahead, doubled when used
};

}  // namespace bulkhead::session
