// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/application/frames/frame_index.h"
#include "core/application/frames/frame_selection.h"
#include "core/include/bulkhead/status.h"
#include "core/include/bulkhead/video_decoder.h"

namespace bulkhead::session {

// Which frame of a stream is on the screen at which time. A player shows frame
// i from its timestamp until that of frame i + 1, whatever the durations say,
// and the last one until the stream ends: so there is no time between begin()
// and end() at which nothing is shown, also where durations were rounded or are
// missing.
//
// The end is the latest timestamp plus duration. A last frame without a
// duration is shown as long as the one before it, or for one frame of the
// average rate.
//
// Value type; the index outlives it.
class FrameTimes {
 public:
  // kBadInput when the stream has no frames, or none that times can tell apart.
  static Result<FrameTimes> Create(const FrameIndex& index, Ratio time_base,
                                   Ratio average_frame_rate);

  double begin() const { return begin_; }
  double end() const { return end_; }

  // kOutOfRange outside [begin, end); kInvalidArgument for what is no number.
  Result<uint64_t> PlayedAt(double seconds) const;
  Result<FrameChoice> PlayedAt(std::span<const double> seconds) const;

  // The frames that are on the screen in [start, stop), each once; or, with
  // `fps`, those that a camera would take of it: round((stop - start) * fps)
  // pictures, the i-th at start + i / fps. kInvalidArgument when start > stop
  // or fps is not positive, kOutOfRange unless begin <= start < end and stop <=
  // end, kResourceExhausted beyond `max_frames`.
  Result<FrameChoice> PlayedInRange(double start, double stop,
                                    std::optional<double> fps,
                                    uint64_t max_frames) const;

 private:
  FrameTimes(const FrameIndex& index, Ratio time_base)
      : index_(&index), time_base_(time_base) {}

  // The last frame whose time has come at `seconds`.
  uint64_t FrameShownAt(double seconds) const;
  Status BeyondError(const char* what, double seconds) const;

  const FrameIndex* index_;
  Ratio time_base_;
  double begin_ = 0;
  double end_ = 0;
};

}  // namespace bulkhead::session
