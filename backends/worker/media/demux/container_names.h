// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace bulkhead::worker::demux {

// The names of libavformat's demuxers that get special treatment.
inline constexpr std::string_view kMp4 = "mov,mp4,m4a,3gp,3g2,mj2";
inline constexpr std::string_view kMatroska = "matroska,webm";

}  // namespace bulkhead::worker::demux
