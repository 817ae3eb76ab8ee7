// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <array>
#include <cstdint>
#include <string>

namespace bulkhead::benchmark {

enum class Codec { kH264, kHevc, kVp9, kAv1 };

inline constexpr std::array kCodecs = {Codec::kH264, Codec::kHevc, Codec::kVp9,
                                       Codec::kAv1};

// Returns "H.264", "HEVC", "VP9" or "AV1".
const char* CodecName(Codec codec);

// A clip of noisy test pictures in an MP4 file: 30 frames a second, a keyframe
// every 30 frames, and a bit rate that is common for its size.
struct CodecClip {
  Codec codec = Codec::kH264;
  uint32_t height = 480;  // 480, 1080 or 2160 (854, 1920 or 3840 wide).
  uint32_t frames = 0;
};

// Returns the path of the clip. Makes the clip on the first call, with the
// fastest preset of its encoder, and keeps it in the user's cache directory.
// Returns kNotFound if there is no ffmpeg program, and kInternal if ffmpeg
// lacks the encoder.
Result<std::string> CachedCodecClip(const CodecClip& clip);

}  // namespace bulkhead::benchmark
