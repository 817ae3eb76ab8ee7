// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/application/frames/frame_index.h"
#include "core/application/frames/frame_selection.h"
#include "core/include/bulkhead/status.h"
#include "core/include/bulkhead/video_decoder.h"

namespace bulkhead::frames {

// Says which frame of a stream is on the screen at a given time. A player
// shows frame i from its timestamp until the timestamp of frame i + 1, whatever
// the durations say, and the last frame until the stream ends. So there is no
// time between begin() and end() at which nothing is shown, even where
// durations are rounded or missing.
//
// A time that is a little before the timestamp of a frame counts as that
// timestamp: `pts + i / fps` is often off by the last bit of a double, and
// times that were printed have six decimals. The tolerance is a microsecond, or
// half a tick of the time base where that is less, so it never reaches another
// frame.
//
// The stream ends at the largest sum of a timestamp and a duration. A last
// frame without a duration is shown as long as the frame before it, or for one
// frame of the average rate. All times are in seconds.
//
// Value type; the index must outlive the object.
class FrameTimes {
 public:
  // Returns kBadInput if the stream has no frames, or frames that their times
  // do not tell apart.
  static Result<FrameTimes> Create(const FrameIndex& index, Ratio time_base,
                                   Ratio average_frame_rate);

  double begin() const { return begin_; }
  double end() const { return end_; }

  // Returns the frame at a time, or the frames at several times. Returns
  // kOutOfRange outside [begin, end), and kInvalidArgument for a NaN.
  Result<uint64_t> PlayedAt(double seconds) const;
  Result<FrameChoice> PlayedAt(std::span<const double> seconds) const;

  // Returns the frames that are on the screen in [start, stop), each once. With
  // `fps`, returns the frames that a camera would take of the screen at that
  // rate: round((stop - start) * fps) pictures, the i-th at start + i / fps.
  // Returns kInvalidArgument if start > stop or fps is not positive,
  // kOutOfRange unless begin <= start < end and stop <= end (begin and stop
  // within the tolerance), and
  // kResourceExhausted for more than `max_frames` pictures.
  Result<FrameChoice> PlayedInRange(double start, double stop,
                                    std::optional<double> fps,
                                    uint64_t max_frames) const;

 private:
  FrameTimes(const FrameIndex& index, Ratio time_base);

  // Returns the last frame whose timestamp is not after `seconds`, within the
  // tolerance.
  uint64_t FrameShownAt(double seconds) const;
  Status BeyondError(const char* what, double seconds) const;

  const FrameIndex* index_;
  Ratio time_base_;
  double tolerance_;
  double begin_ = 0;
  double end_ = 0;
};

}  // namespace bulkhead::frames
