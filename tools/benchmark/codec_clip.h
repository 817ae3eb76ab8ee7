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

// A noisy test picture at a bit rate that is common for its size, a keyframe
// every 30 frames, 30 frames a second, in an MP4 file.
struct CodecClip {
  Codec codec = Codec::kH264;
  uint32_t height = 480;  // 480, 1080 or 2160; the width follows.
  uint32_t frames = 0;
};

// Returns the path of the clip, which is made by the fastest preset of its
// encoder on the first call and kept in the user's cache directory. kNotFound
// if there is no ffmpeg, kInternal if it lacks the encoder.
Result<std::string> CachedCodecClip(const CodecClip& clip);

}  // namespace bulkhead::benchmark
