// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/application/frames/frame_index.h"
#include "core/application/session/frame_finder.h"
#include "core/application/worker_link/video_link.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

// Finds frames by an index that only guesses their times
// (SeekMode::kApproximate): the first frame that is shown from half a frame
// before the guessed time on, if that is at most half a frame behind it. Does
// not check that a pass from the beginning would show the same picture.
//
// Find() returns kOutOfRange if the stream ends before the frame, and kBadInput
// if no frame is so near. Everything else is as with FrameFinder, Forget()
// included.
class NearbyFinder {
 public:
  // `index` outlives the finder; `allowance` is half a frame, in the time base.
  NearbyFinder(const FrameIndex& index, int64_t allowance)
      : index_(index), allowance_(allowance) {}

  // `i` must be less than index.size().
  Result<FrameFinder::Found> Find(VideoLink& video, uint64_t i);
  void Forget() { following_ = false; }

 private:
  const FrameIndex& index_;
  const int64_t allowance_;
  bool following_ = false;  // the worker's play goes on behind position_
  uint64_t position_ = 0;   // the last frame found
  uint64_t window_ = 1;     // frames decoded ahead; doubled whenever used up
};

}  // namespace bulkhead::session
