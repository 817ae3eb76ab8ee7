// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bulkhead/status.h"

namespace bulkhead::tests {

// Clips whose pictures change their size in the middle, and all but kVp9 their
// pixel format too. Each consists of parts of kFramesOfPart frames, with a
// keyframe every half of that, that ffmpeg encodes one by one.
enum class ChangingClip {
  kH264,   // mpegts, B-frames
  kVp9,    // webm
  kMpeg2,  // mpegts, B-frames; libavcodec drops a picture at each change
  kMjpeg,  // avi
};
inline constexpr size_t kFramesOfPart = 12;

struct ClipPart {
  const char* size;
  const char* pixel_format;
};
// Returns the parts: the second is larger than the first, the third smaller,
// the fourth differs from it in its pixel format alone, and the fifth is the
// largest.
std::vector<ClipPart> PartsOf(ChangingClip clip);

// Returns the clips of which libavcodec drops no picture.
std::vector<ChangingClip> WholeChangingClips();
const char* ClipName(ChangingClip clip);

// Returns the path of the clip. Makes it at most once, in TEST_TMPDIR.
Result<std::string> Generate(ChangingClip clip);

// One picture as libav decodes it in this process, with one thread.
struct LibavPicture {
  uint32_t width = 0;
  uint32_t height = 0;
  std::string pixel_format;
  std::string native_hash;  // of the packed planes
  // The hash of the picture as RGB24 in this size, converted by swscale with
  // what the ffmpeg command sets: bicubic, the colour matrix and range of the
  // picture, and the place of the chroma of 4:2:0.
  std::string rgb_hash;
  std::string rgb48_hash;  // the same of RGB48
};
Result<std::vector<LibavPicture>> DecodeWithLibav(const std::string& path);

}  // namespace bulkhead::tests
