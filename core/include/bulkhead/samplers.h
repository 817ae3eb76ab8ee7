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

// Clips of a few frames each, from many places of a stream: what a model is
// trained with.
//
//     auto clips = ClipsAtRandomIndices(
//         decoder, {.clips = 4, .frames_per_clip = 8}, seed);
//
// The same seed gives the same clips, on every machine and with every version.
// kInvalidArgument for a request that means nothing; else the failures of
// FramesAt and FramesPlayedAt. What two clips share is decoded once.

// What stands for frames of a clip that lie behind the end of the stream.
enum class ClipPolicy : uint8_t {
  kRepeatLast,  // its last frame that there is
  kWrap,        // those that there are, from its first on again
  kError,       // nothing: kOutOfRange
};

struct IndexClips {
  uint64_t clips = 1;
  uint64_t frames_per_clip = 1;
  uint64_t indices_between_frames = 1;  // 1: neighbours
  // Where clips begin: range_start <= first index < range_end. Negatives count
  // from the end. nullopt: as far back as whole clips fit, but one place at
  // least.
  int64_t range_start = 0;
  std::optional<int64_t> range_end;
  ClipPolicy policy = ClipPolicy::kRepeatLast;
};

struct TimeClips {
  uint64_t clips = 1;  // not for regular timestamps
  uint64_t frames_per_clip = 1;
  std::optional<double> seconds_between_frames;  // nullopt: 1 / average rate
  // Where clips begin, as above. nullopt: the begin of the stream; as late as
  // whole clips fit.
  std::optional<double> range_start;
  std::optional<double> range_end;
  ClipPolicy policy = ClipPolicy::kRepeatLast;
};

// As an array: [clips, frames, height, width, 3], or in the decoder's other
// order [clips, frames, 3, height, width]. Clip c begins at picture c *
// frames_per_clip of the batch.
struct ClipBatch {
  FrameBatch frames;
  size_t clips = 0;
  size_t frames_per_clip = 0;

  std::array<size_t, 5> shape() const;
  std::array<size_t, 5> strides() const;  // in elements
};

// Each first index of the range is equally likely, and may come twice.
Result<ClipBatch> ClipsAtRandomIndices(VideoDecoder& decoder,
                                       const IndexClips& request,
                                       uint64_t seed);
// First indices evenly spread from the first of the range to its last.
Result<ClipBatch> ClipsAtRegularIndices(VideoDecoder& decoder,
                                        const IndexClips& request);
// Each time of the range is equally likely.
Result<ClipBatch> ClipsAtRandomTimestamps(VideoDecoder& decoder,
                                          const TimeClips& request,
                                          uint64_t seed);
// A clip every so many seconds, from the begin of the range to its end.
Result<ClipBatch> ClipsAtRegularTimestamps(VideoDecoder& decoder,
                                           double seconds_between_clip_starts,
                                           const TimeClips& request = {});

}  // namespace bulkhead
