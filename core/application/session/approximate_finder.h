// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/application/frames/frame_index.h"
#include "core/application/session/frame_finder.h"
#include "core/application/worker_link/video_link.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

// Finds a frame by its number when the index only guesses the timestamps
// (SeekMode::kApproximate). Seeks to the keyframe before the guessed timestamp,
// decodes from it, and takes the first frame with
//
//   guess - half a frame <= timestamp <= guess + half a frame
//
// The picture may differ from the picture of a pass from the beginning.
//
// A hostile worker cannot prolong the search with frames that are too early.
// One deadline bounds all frames of the search (VideoLink::BeginStep), and
// Limits::index_frames bounds the frames without a timestamp.
//
// Find() returns kOutOfRange if the stream ends before the frame, and kBadInput
// if no frame is in this interval. Other errors are as in FrameFinder::Find().
// Not thread-safe.
class ApproximateFinder {
 public:
  // `index` must outlive the finder. `allowance` is half the duration of a
  // frame, in the time base. `shows_damaged` is as in FrameFinder.
  ApproximateFinder(const frames::FrameIndex& index, int64_t allowance,
                    bool shows_damaged)
      : index_(index), allowance_(allowance), shows_damaged_(shows_damaged) {}

  // Finds frame `i`, which must be less than index.size().
  Result<FrameFinder::Found> Find(worker_link::VideoLink& video, uint64_t i);

 private:
  const frames::FrameIndex& index_;
  const int64_t allowance_;
  const bool shows_damaged_;
  bool following_ = false;  // its VideoLink::Play() continues after position_
  uint64_t position_ = 0;   // the last frame found
  uint64_t window_ = 1;  // frames until the play pauses; doubles at each pause
};

}  // namespace bulkhead::session
