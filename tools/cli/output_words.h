// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <optional>
#include <string_view>

namespace bulkhead::cli {

// The words that say how frames are to come out. kInvalidArgument for any
// other, with an example.

// "T1:T2" in seconds, half-open, either of them left out.
struct TimeRange {
  std::optional<double> start;
  std::optional<double> stop;
  bool operator==(const TimeRange&) const = default;
};
Result<TimeRange> ParseTimes(std::string_view text);

}  // namespace bulkhead::cli
