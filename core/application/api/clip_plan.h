// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/include/bulkhead/samplers.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead {

// Functions that choose the frames of the clips for the samplers (samplers.h),
// without decoding. In the result the clips follow each other, with
// frames_per_clip entries each. With a `seed`, the clips begin at random
// positions; with nullopt, at regular positions. Errors:
// - kInvalidArgument: a count or distance is not positive, or a range is empty
// - kOutOfRange: the stream does not have the requested frames
// - kResourceExhausted: the request is too large

// Returns the indices of the frames, for a stream of `frame_count` frames.
Result<std::vector<int64_t>> PlanClips(const IndexClips& request,
                                       uint64_t frame_count,
                                       std::optional<uint64_t> seed);

// Returns the times, in seconds, of the frames. `played` is the time from the
// first frame to the end, `average_rate` the frames per second (0: unknown).
// `between_starts` is the time, in seconds, between the starts of clips at
// regular positions; clips at random positions ignore it.
Result<std::vector<double>> PlanClips(const TimeClips& request,
                                      const SecondsRange& played,
                                      double average_rate,
                                      double between_starts,
                                      std::optional<uint64_t> seed);

}  // namespace bulkhead
