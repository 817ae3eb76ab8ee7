// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bulkhead/host.h"

namespace bulkhead::tests {

// A file to decode repeatedly, with the frames of an undisturbed decode.
struct SoakFile {
  std::string name;
  std::string path;
  std::vector<std::string> frames;  // the hash of each frame
  // True if FrameAt(i) is the i-th frame of Next(). False for files with
  // damaged packets or with timestamps out of order.
  bool indexed = false;
};

// Returns real files below BULKHEAD_SHARED with at most 480 rows, a keyframe at
// least every 30 frames and 10 to 140 frames, or clips that ffmpeg makes if
// there are no such files. Decodes each file once on `device`. Returns none if
// there is neither.
std::vector<SoakFile> SoakFiles(Host& host, const std::string& device);

}  // namespace bulkhead::tests
