// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bulkhead/status.h"

namespace bulkhead::tests {

// One frame as ffmpeg shows it, as RGB24.
struct MarkedFrame {
  int64_t pts;  // best effort
  bool marked;  // as corrupt
  std::string hash;
};

// What ffmpeg makes of the first video stream that is no cover, else of the
// first, with one thread, however damaged the file is. Pictures are upright,
// but not turned by an angle that is no quarter turn. kNotFound: no ffmpeg on
// this machine. kBadInput: nothing can be decoded. BULKHEAD_TEST_MARKS is the
// path of marked_frames.
Result<std::vector<MarkedFrame>> DecodeWithMarks(const std::string& path);

}  // namespace bulkhead::tests
