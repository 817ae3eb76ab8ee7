// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bulkhead/status.h"

namespace bulkhead::tests {

// Clips that the ffmpeg program makes on the spot, so that tests need no
// samples. Each is made once a test program, in TEST_TMPDIR.
enum class Clip {
  kH264,     // 320x240, 120 frames, a keyframe every 24, B-frames; mp4
  kVp9,      // 48 frames; webm
  kMpeg2,    // 48 frames, B-frames, timestamps that begin late; mpegts
  kOddSize,  // 175x143, 30 frames; webm
  kRotated,  // kH264, shown turned by 90 degrees; mp4
  kPng,      // 20 frames of rgb24; mkv
};

std::vector<Clip> AllClips();
const char* ClipName(Clip clip);

// Path of the clip. kNotFound: no ffmpeg on this machine.
Result<std::string> Generate(Clip clip);

// One line of `ffmpeg … -f framemd5`.
struct ReferenceFrame {
  size_t bytes = 0;
  std::string hash;

  bool operator==(const ReferenceFrame&) const = default;
};

// What ffmpeg decodes from the first video stream, as RGB24. A file in which it
// finds damage gives the frames that it found, which may be others with more
// threads.
Result<std::vector<ReferenceFrame>> DecodeWithFfmpeg(const std::string& path,
                                                     uint32_t threads = 1);

}  // namespace bulkhead::tests
