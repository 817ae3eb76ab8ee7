// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "bulkhead/status.h"

namespace bulkhead {

// One frame of an index that was made outside of Bulkhead, so that a decoder
// does not have to scan the file. Times are in ticks of the stream's time base.
struct FrameMapping {
  int64_t pts = 0;
  int64_t duration = 0;
  bool keyframe = false;

  bool operator==(const FrameMapping&) const = default;
};

// Parses the output of
//     $ ffprobe -select_streams v:0 -show_frames -of json FILE
// that is, an object with "frames", a list of objects with "pts" or "pkt_pts",
// "duration" or "pkt_duration", and "key_frame". Other members are ignored.
// These are torchcodec's custom_frame_mappings. kInvalidArgument if a frame
// lacks a member; the message says which frame and which member.
Result<std::vector<FrameMapping>> ParseFrameMappings(std::string_view json);

}  // namespace bulkhead
