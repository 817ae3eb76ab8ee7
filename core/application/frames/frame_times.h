// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/application/frames/frame_index.h"
#include "core/application/frames/frame_selection.h"
#include "core/include/bulkhead/metadata.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::frames {

// Finds the frame of a stream that is on the screen at a given time. A player
// shows frame i from its timestamp until the timestamp of frame i + 1, whatever
// its duration says, and the last frame until the stream ends. So some frame is
// shown at every time between begin() and end(), even if durations are rounded
// or missing.
//
// A time slightly before a frame's timestamp counts as the timestamp, because a
// sum `pts + i/fps` is often off by the last bit of a double, and printed times
// have six decimals. The tolerance is a microsecond, or half a tick of the time
// base if that is less, so it never reaches another frame.
//
// The stream ends at the largest `timestamp + duration` of its frames. If the
// last frame states no duration, it gets the time between the last two
// timestamps. A single frame gets 1 / (average frame rate) or, if that is
// unknown, one tick of the time base. All times are in seconds.
//
// Value type; the index must outlive the object.
class FrameTimes {
 public:
  // Returns kBadInput if the stream has no frames, or if its frames cannot be
  // told apart by their times.
  static Result<FrameTimes> Create(const FrameIndex& index, Ratio time_base,
                                   Ratio average_frame_rate);

  double begin() const { return begin_; }
  double end() const { return end_; }

  // Return the frame at a time, or the frames at several times. Return
  // kOutOfRange outside of [begin, end), and kInvalidArgument for a NaN or an
  // infinite time.
  Result<uint64_t> PlayedAt(double seconds) const;
  Result<FrameChoice> PlayedAt(std::span<const double> seconds) const;

  // Returns the frames that are on the screen in [start, stop), each once. With
  // `fps`, resamples the range: returns the frames at the times start + i / fps
  // for i < round((stop - start) * fps), in which frames may repeat. Errors:
  // - kInvalidArgument: start > stop, or fps is not positive
  // - kOutOfRange: not begin <= start < end, or stop > end (with the tolerance
  //   at begin and stop)
  // - kResourceExhausted: the result has more than `max_frames` frames
  Result<FrameChoice> PlayedInRange(double start, double stop,
                                    std::optional<double> fps,
                                    uint64_t max_frames) const;

 private:
  FrameTimes(const FrameIndex& index, Ratio time_base);

  // Returns the last frame whose timestamp is not after `seconds`, within the
  // tolerance.
  uint64_t FrameShownAt(double seconds) const;
  // Returns kOutOfRange for `seconds`. `what` begins the message ("start ").
  Status BeyondError(const char* what, double seconds) const;

  const FrameIndex* index_;
  Ratio time_base_;
  double tolerance_;  // in seconds, like begin_ and end_
  double begin_ = 0;
  double end_ = 0;
};

}  // namespace bulkhead::frames
