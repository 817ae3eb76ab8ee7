// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/include/bulkhead/metadata.h"

namespace bulkhead::session {

// Multiplied before it is divided, so that 3 ticks of 1/30 s are 0.1 s.
double Seconds(int64_t ticks, Ratio time_base);

// What a worker claims of times, where the minimum says that it does not know:
// nullopt for that, and for a duration also unless it is above 0.
std::optional<double> SecondsIfTold(int64_t ticks_untrusted, Ratio time_base);
std::optional<double> DurationIfTold(int64_t ticks_untrusted, Ratio time_base);
inline constexpr Ratio kMicrosecond{1, 1'000'000};  // the unit of containers

// By the header: the average, else the one that is guessed.
std::optional<double> FrameRate(Ratio average, Ratio base);

// Sets the best that is known from what header and content tell, by the rules
// of StreamTiming. `fps_from_header` and `container_seconds`: nullopt where
// those are not told, or are not above 0.
void ChooseBest(StreamTiming& timing, std::optional<double> fps_from_header,
                std::optional<double> container_seconds);

}  // namespace bulkhead::session
