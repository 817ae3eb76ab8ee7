// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/application/frames/frame_index.h"
#include "core/application/session/frame_finder.h"
#include "core/application/worker_link/video_link.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

// Finds frames by an index that only guesses their times
// (SeekMode::kApproximate): finds the first frame that is at most half a frame
// before the guessed time, and accepts the frame if it is at most half a frame
// after that time. Does not check that a pass from the beginning would show the
// same picture.
//
// A worker cannot make the search last by frames that are no candidates: a
// deadline of all frames of the search bounds it (VideoLink::BeginStep), and
// Limits::index_frames bounds the frames without a timestamp.
//
// Find() returns kOutOfRange if the stream ends before the frame, and kBadInput
// if no frame is that near. Otherwise it behaves as FrameFinder's.
class NearbyFinder {
 public:
  // `index` must outlive the finder. `allowance` is half the duration of a
  // frame, in the time base. `shows_damaged` means what it means to
  // FrameFinder.
  NearbyFinder(const frames::FrameIndex& index, int64_t allowance,
               bool shows_damaged)
      : index_(index), allowance_(allowance), shows_damaged_(shows_damaged) {}

  // `i` must be less than index.size().
  Result<FrameFinder::Found> Find(worker_link::VideoLink& video, uint64_t i);

 private:
  const frames::FrameIndex& index_;
  const int64_t allowance_;
  const bool shows_damaged_;
  bool following_ = false;  // its play continues after position_
  uint64_t position_ = 0;   // the last frame found
  uint64_t window_ = 1;     // frames decoded ahead; doubled whenever used up
};

}  // namespace bulkhead::session
