// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/include/bulkhead/samplers.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead {

// Which frames the clips of a request consist of: the arithmetic of
// samplers.h, apart from decoding. A clip after the other, frames_per_clip
// each. With a seed the clips begin at random places, without one at regular
// ones.

Result<std::vector<int64_t>> PlanClips(const IndexClips& request,
                                       uint64_t frame_count,
                                       std::optional<uint64_t> seed);

// For a stream that plays in `played` with `average_rate` frames a second (0:
// unknown). `between_starts` is for regular places and else not looked at.
Result<std::vector<double>> PlanClips(const TimeClips& request,
                                      const SecondsRange& played,
                                      double average_rate,
                                      double between_starts,
                                      std::optional<uint64_t> seed);

}  // namespace bulkhead
