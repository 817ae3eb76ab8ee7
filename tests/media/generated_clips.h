// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bulkhead/status.h"

namespace bulkhead::tests {

// Clips that the ffmpeg program makes at run time, so that tests need no sample
// files. Each test program makes a clip at most once, in TEST_TMPDIR.
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

// Returns the path of the clip, or kNotFound if this machine has no ffmpeg.
Result<std::string> Generate(Clip clip);

// One frame as a line of `ffmpeg … -f framehash` describes it.
struct ReferenceFrame {
  size_t bytes = 0;
  std::string hash;
  int64_t pts = INT64_MIN;  // in the time base of ffmpeg's output, if known

  bool operator==(const ReferenceFrame&) const = default;
};

// Decodes the first video stream with ffmpeg, as RGB24. For a damaged file,
// returns the frames that ffmpeg could decode, which may depend on the number
// of threads.
Result<std::vector<ReferenceFrame>> DecodeWithFfmpeg(const std::string& path,
                                                     uint32_t threads = 1);

// Returns only the hashes of DecodeWithFfmpeg.
Result<std::vector<std::string>> HashesByFfmpeg(const std::string& path,
                                                uint32_t threads = 1);
// Returns the hashes of the pictures as the decoder makes them, neither
// converted nor turned upright.
Result<std::vector<std::string>> NativeHashesByFfmpeg(const std::string& path);

}  // namespace bulkhead::tests
