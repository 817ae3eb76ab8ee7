// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bulkhead::supervisor {

// What a backend decodes to show that it can: one picture of MPEG-4 part 2 in
// Matroska, which every build of libav and most hardware decode. Data, so that
// bulkheadd needs no media library.
inline constexpr const char* kBuiltInClipName = "bulkhead-check.mkv";
inline constexpr uint32_t kBuiltInClipWidth = 64;
inline constexpr uint32_t kBuiltInClipHeight = 48;

std::span<const std::byte> BuiltInClip();

}  // namespace bulkhead::supervisor
