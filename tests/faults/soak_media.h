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
  std::vector<std::string> frames;  // their hashes
  // FrameAt(i) is the frame i of Next(), which is not so where packets are
  // damaged or have timestamps out of order.
  bool indexed = false;
};

// Real files of at most 480 rows, a keyframe at least every 30 frames and 10 to
// 140 frames, below BULKHEAD_SHARED; without them clips that ffmpeg makes. Each
// decoded by `device`. Empty: there are neither.
std::vector<SoakFile> SoakFiles(Host& host, const std::string& device);

}  // namespace bulkhead::tests
