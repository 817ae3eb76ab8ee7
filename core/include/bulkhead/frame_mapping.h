// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "bulkhead/status.h"

namespace bulkhead {

// Where one frame of a stream is, in its time base: an index that was made
// elsewhere, so that a decoder need not scan the file for its own.
struct FrameMapping {
  int64_t pts = 0;
  int64_t duration = 0;
  bool keyframe = false;

  bool operator==(const FrameMapping&) const = default;
};

// From what
//     ffprobe -select_streams v:0 -show_frames -of json FILE
// prints: "frames", a list of objects with "pts" or "pkt_pts", "duration" or
// "pkt_duration", and "key_frame". Other members are ignored.
// kInvalidArgument: says which frame lacks what.
Result<std::vector<FrameMapping>> ParseFrameMappings(std::string_view json);

}  // namespace bulkhead
