// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/video_decoder.h>

#include <optional>
#include <string_view>

namespace bulkhead::cli {

// The words that say how frames are to come out. kInvalidArgument for any
// other, with an example.

// "WxH" or "WxH:FILTER", as of --resize.
Result<Resize> ParseResize(std::string_view text);

// "WxH+X+Y", or "WxH" for the middle, as of --crop.
Result<Transform> ParseCrop(std::string_view text);

// "T1:T2" in seconds, half-open, either of them left out.
struct TimeRange {
  std::optional<double> start;
  std::optional<double> stop;
  bool operator==(const TimeRange&) const = default;
};
Result<TimeRange> ParseTimes(std::string_view text);

// "25", "29.97" or "30000/1001".
Result<Ratio> ParseRate(std::string_view text);

}  // namespace bulkhead::cli
