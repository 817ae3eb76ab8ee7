// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/include/bulkhead/metadata.h"

namespace bulkhead::worker_protocol {

// Returns `ticks` of the time base in seconds. Multiplies before it divides, so
// that 3 ticks of 1/30 s are exactly 0.1 s.
double Seconds(int64_t ticks, Ratio time_base);

// Return a time or a duration that a worker has reported, in seconds. Return
// nullopt if it is unknown: INT64_MIN ticks, or a duration of 0 or less.
std::optional<double> SecondsIfTold(int64_t ticks_untrusted, Ratio time_base);
std::optional<double> DurationIfTold(int64_t ticks_untrusted, Ratio time_base);
// The time base of a container's own times (FFmpeg's AV_TIME_BASE).
inline constexpr Ratio kMicrosecond{1, 1'000'000};

// Returns the frame rate that the header states, in frames per second:
// `average` or, if that is unknown, `base`, FFmpeg's guess of the base rate.
// Returns nullopt if both are unknown.
std::optional<double> FrameRate(Ratio average, Ratio base);

// Chooses the best known values of `timing` from the values of header and
// content; the rules are in StreamTiming. `fps_from_header` and
// `container_seconds` are nullopt if the header does not state a value above 0.
void ChooseBest(StreamTiming& timing, std::optional<double> fps_from_header,
                std::optional<double> container_seconds);

}  // namespace bulkhead::worker_protocol
