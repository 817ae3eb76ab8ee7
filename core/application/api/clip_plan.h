// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/include/bulkhead/samplers.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead {

// Returns the numbers of the frames that make up the clips of a request. Does
// the arithmetic of samplers.h without decoding. The clips follow each other,
// with frames_per_clip numbers each. With a seed they begin at random places,
// without a seed at regular ones.

Result<std::vector<int64_t>> PlanClips(const IndexClips& request,
                                       uint64_t frame_count,
                                       std::optional<uint64_t> seed);

// Returns the times in seconds at which the frames of the clips are played, for
// a stream that plays in `played` with `average_rate` frames per second (0:
// unknown). `between_starts` is the distance in seconds between the starts of
// clips at regular places; clips at random places ignore the parameter.
Result<std::vector<double>> PlanClips(const TimeClips& request,
                                      const SecondsRange& played,
                                      double average_rate,
                                      double between_starts,
                                      std::optional<uint64_t> seed);

}  // namespace bulkhead
