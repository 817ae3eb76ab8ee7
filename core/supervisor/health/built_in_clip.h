// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bulkhead::health {

// The clip that a backend decodes to prove that it works: one picture of MPEG-4
// part 2 in Matroska, which every build of libav and most hardware decode. Its
// bytes are part of the program, so bulkheadd needs no media library.
inline constexpr const char* kBuiltInClipName = "bulkhead-check.mkv";
inline constexpr const char* kBuiltInClipCodec = "mpeg4";

// Returns the bytes of the clip's file.
std::span<const std::byte> BuiltInClipBytes();
// Returns, for each picture of the clip, the correct MD5s of its RGB24 pixels.
// There are two, since libswscale, with which workers convert pictures, rounds
// differently on a processor without SSSE3.
std::vector<std::vector<std::string>> BuiltInClipMd5s();

// The sound for a backend that decodes audio only: a sixteenth of a second of
// silence, a WAV file with 16-bit PCM.
inline constexpr const char* kBuiltInSoundName = "bulkhead-check.wav";
inline constexpr uint32_t kBuiltInSoundRate = 8000;
inline constexpr uint32_t kBuiltInSoundSamples = 500;

// Returns the bytes of the sound's file.
std::string BuiltInSoundBytes();

}  // namespace bulkhead::health
