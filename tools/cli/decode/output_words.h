// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/metadata.h>

#include <string_view>

#include "core/application/decoding/job.h"

namespace bulkhead::cli::decode {

// Parsers for the arguments of --resize, --crop, --times and --fps. For a
// malformed argument each returns kInvalidArgument, with the option, the
// argument and an example.

// Parses the argument of --resize: "WxH" or "WxH:FILTER".
Result<Resize> ParseResize(std::string_view text);

// Parses the argument of --crop: "WxH+X+Y", or "WxH" for the centre.
Result<Transform> ParseCrop(std::string_view text);

// Parses the argument of --times: "T1:T2". Either bound may be absent.
Result<decoding::TimeRange> ParseTimes(std::string_view text);

// Parses the argument of --fps: "25", "29.97" or "30000/1001".
Result<Ratio> ParseRate(std::string_view text);

}  // namespace bulkhead::cli::decode
