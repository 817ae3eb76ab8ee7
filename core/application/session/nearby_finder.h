// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/application/frames/frame_index.h"
#include "core/application/session/frame_finder.h"
#include "core/application/worker_link/video_link.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

// Finds frames by an index that only guesses at their times
// (SeekMode::kApproximate): what is shown first from half a frame before the
// time on, and no more than half a frame behind it. Takes what it finds for
// what a pass from the beginning shows.
//
// kOutOfRange: the stream ends before; kBadInput: nothing is so near. Otherwise
// as FrameFinder, Forget() included.
class NearbyFinder {
 public:
  // `index` outlives it; `allowance` is half a frame, in the time base.
  NearbyFinder(const FrameIndex& index, int64_t allowance)
      : index_(index), allowance_(allowance) {}

  // `i` < index.size().
  Result<FrameFinder::Found> Find(VideoLink& video, uint64_t i);
  void Forget() { following_ = false; }

 private:
  const FrameIndex& index_;
  const int64_t allowance_;
  bool following_ = false;  // the play goes on behind position_
  uint64_t position_ = 0;
  uint64_t window_ = 1;  // frames decoded ahead, doubled when used
};

}  // namespace bulkhead::session
