// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bulkhead::supervisor {

// What a backend decodes to show that it can: one picture of MPEG-4 part 2 in
// Matroska, which every build of libav and most hardware decode. Data, so that
// bulkheadd needs no media library.
inline constexpr const char* kBuiltInClipName = "bulkhead-check.mkv";
inline constexpr uint32_t kBuiltInClipWidth = 64;
inline constexpr uint32_t kBuiltInClipHeight = 48;

std::span<const std::byte> BuiltInClip();

// The same for a backend that decodes audio alone: a sixteenth of a second of
// silence as PCM of 16 bits in RIFF.
inline constexpr const char* kBuiltInSoundName = "bulkhead-check.wav";
inline constexpr uint32_t kBuiltInSoundRate = 8000;
inline constexpr uint32_t kBuiltInSoundSamples = 500;

std::vector<std::byte> BuiltInSound();

}  // namespace bulkhead::supervisor
