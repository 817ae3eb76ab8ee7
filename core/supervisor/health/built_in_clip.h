// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bulkhead::health {

// The clip that a backend decodes to prove that it works: one picture of MPEG-4
// part 2 in Matroska, which every build of libav and most hardware decode. The
// clip is data, so that bulkheadd needs no media library.
inline constexpr const char* kBuiltInClipName = "bulkhead-check.mkv";
inline constexpr const char* kBuiltInClipCodec = "mpeg4";

std::span<const std::byte> BuiltInClipBytes();
// Returns for each picture of the clip the MD5s of its RGB24 pixels that are
// right. libswscale, which the worker converts pictures with, rounds otherwise
// on a processor without SSSE3, so that there are two.
std::vector<std::vector<std::string>> BuiltInClipMd5s();

// The sound for a backend that decodes audio only: a sixteenth of a second of
// silence as 16-bit PCM in RIFF.
inline constexpr const char* kBuiltInSoundName = "bulkhead-check.wav";
inline constexpr uint32_t kBuiltInSoundRate = 8000;
inline constexpr uint32_t kBuiltInSoundSamples = 500;

std::string BuiltInSoundBytes();

}  // namespace bulkhead::health
