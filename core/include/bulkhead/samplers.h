// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "bulkhead/frame.h"
#include "bulkhead/status.h"
#include "bulkhead/video_decoder.h"

namespace bulkhead {

// Samplers return clips of a few frames each from many places of a stream, for
// training models. They correspond to torchcodec.samplers.
//
//     auto clips = ClipsAtRandomIndices(
//         decoder, {.clips = 4, .frames_per_clip = 8}, seed);
//
// The same seed gives the same clips, on every machine and with every version.
// A frame that several clips share is decoded once. Errors: kInvalidArgument if
// a count or a distance is not positive, or if the range is empty; kOutOfRange
// if the range begins outside of the stream; kResourceExhausted if the request
// has too many frames; and the errors of FramesAt or FramesPlayedAt. Each call
// uses the decoder, so it must not run at the same time as another call of that
// decoder.

// Chooses the replacement for frames of a clip that lie after the end of the
// stream.
enum class ClipPolicy : uint8_t {
  kRepeatLast,  // The last frame of the clip that exists, repeated.
  kWrap,        // The existing frames of the clip again, from its first.
  kError,       // Nothing: the call fails with kOutOfRange.
};

// A request for clips by frame index.
struct IndexClips {
  uint64_t clips = 1;
  uint64_t frames_per_clip = 1;
  uint64_t indices_between_frames = 1;  // 1 takes neighbouring frames.
  // The range of the first frames of clips: range_start <= index < range_end.
  // Negative values count from the end of the stream. Without range_end, the
  // range ends at the last index at which a whole clip fits, but has at least
  // one index.
  int64_t range_start = 0;
  std::optional<int64_t> range_end = {};
  ClipPolicy policy = ClipPolicy::kRepeatLast;
};

// A request for clips by time, in seconds.
struct TimeClips {
  // The number of clips. ClipsAtRegularTimestamps ignores it.
  uint64_t clips = 1;
  uint64_t frames_per_clip = 1;
  // nullopt: 1 / average frame rate.
  std::optional<double> seconds_between_frames = {};
  // The range of the starts of clips: range_start <= start < range_end. Without
  // range_start, it begins with the stream; without range_end, it ends at the
  // last time at which a whole clip fits.
  std::optional<double> range_start = {};
  std::optional<double> range_end = {};
  ClipPolicy policy = ClipPolicy::kRepeatLast;
};

// The frames of all clips, one clip after the other. As an array: [clips,
// frames_per_clip, height, width, 3], or [clips, frames_per_clip, 3, height,
// width] with kNCHW. Clip c begins at picture c * frames_per_clip of `frames`.
struct ClipBatch {
  FrameBatch frames;
  size_t clips = 0;
  size_t frames_per_clip = 0;

  std::array<size_t, 5> shape() const;
  std::array<size_t, 5> strides() const;  // In elements, not bytes.
};

// Takes clips that begin at random frames of the range. Each frame is equally
// likely, and may be taken more than once.
Result<ClipBatch> ClipsAtRandomIndices(VideoDecoder& decoder,
                                       const IndexClips& request,
                                       uint64_t seed);
// Takes clips whose first frames are spread evenly over the range, from its
// first frame to its last.
Result<ClipBatch> ClipsAtRegularIndices(VideoDecoder& decoder,
                                        const IndexClips& request);
// Takes clips that begin at random times of the range, each equally likely.
Result<ClipBatch> ClipsAtRandomTimestamps(VideoDecoder& decoder,
                                          const TimeClips& request,
                                          uint64_t seed);
// Takes a clip every `seconds_between_clip_starts`, from the beginning of the
// range to its end.
Result<ClipBatch> ClipsAtRegularTimestamps(VideoDecoder& decoder,
                                           double seconds_between_clip_starts,
                                           const TimeClips& request = {});

}  // namespace bulkhead
