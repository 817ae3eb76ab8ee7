// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bulkhead/frame.h"
#include "bulkhead/status.h"

namespace bulkhead::tests {

// One frame as ffmpeg shows it.
struct MarkedFrame {
  int64_t pts;  // the best-effort timestamp
  bool marked;  // true if libavcodec marked the frame as corrupt
  std::string hash;
};

// Decodes a file with ffmpeg, with one thread, however damaged the file is.
// Takes the first video stream that is no cover, or else the first video
// stream. An angle that is no quarter turn is ignored.
// Returns kNotFound if this machine has no ffmpeg, and kBadInput if nothing can
// be decoded. With kRgb the pictures are RGB24 and upright, with kNative as the
// decoder makes them. BULKHEAD_TEST_MARKS must be the path of
// marked_frames_main.
Result<std::vector<MarkedFrame>> DecodeWithMarks(
    const std::string& path, OutputFormat format = OutputFormat::kRgb);

}  // namespace bulkhead::tests
