// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/include/bulkhead/metadata.h"

namespace bulkhead::worker_protocol {

// Returns `ticks` of a time base in seconds. Multiplies before it divides, so
// that 3 ticks of 1/30 s are 0.1 s.
double Seconds(int64_t ticks, Ratio time_base);

// Returns a time or a duration that a worker reports, in seconds. Returns
// nullopt for the smallest integer, by which a worker says that it does not
// know, and for a duration that is not above 0.
std::optional<double> SecondsIfTold(int64_t ticks_untrusted, Ratio time_base);
std::optional<double> DurationIfTold(int64_t ticks_untrusted, Ratio time_base);
// The time base of durations that containers declare.
inline constexpr Ratio kMicrosecond{1, 1'000'000};

// Returns the frames per second that the header states: the average rate, else
// the base rate, which is FFmpeg's guess; nullopt if both are unknown.
std::optional<double> FrameRate(Ratio average, Ratio base);

// Sets the best known values of `timing` from what header and content state, by
// the rules of StreamTiming. `fps_from_header` and `container_seconds` are
// nullopt where the header does not state them, or none above 0.
void ChooseBest(StreamTiming& timing, std::optional<double> fps_from_header,
                std::optional<double> container_seconds);

}  // namespace bulkhead::worker_protocol
