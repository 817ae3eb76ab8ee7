// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bulkhead/host.h"

namespace bulkhead::tests {

// A file to decode again and again, and what comes of it when nothing happens.
struct SoakFile {
  std::string name;
  std::string path;
  std::vector<std::string> sequential;  // the hash of each frame of Next()
  // Of FrameAt(i): the hash, or the name of the error's code.
  std::vector<std::string> indexed;
};

// Hash of the frame, or the code of the error.
std::string OutcomeOf(const Result<Frame>& frame);

// Real files of at most 480 rows, a keyframe at least every 30 frames and 10 to
// 140 frames, below BULKHEAD_SHARED; without them clips that ffmpeg makes. Each
// decoded by `device`. Empty: there are neither.
std::vector<SoakFile> SoakFiles(Host& host, const std::string& device);

}  // namespace bulkhead::tests
