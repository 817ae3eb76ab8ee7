// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/video_decoder.h>

#include <chrono>
#include <optional>
#include <utility>

namespace bulkhead::benchmark {

using Clock = std::chrono::steady_clock;

inline double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

// Returns the next frame; kInternal at the end of the clip.
inline Result<Frame> NextFrame(VideoDecoder& video) {
  Result<std::optional<Frame>> frame = video.Next();
  if (!frame) return frame.error();
  if (!*frame) return Status(Code::kInternal, "the clip is too short");
  return **std::move(frame);
}

}  // namespace bulkhead::benchmark
