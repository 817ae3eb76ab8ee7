// SPDX-License-Identifier: Apache-2.0
#include "core/session/stream_timing.h"

namespace bulkhead::session {
namespace {

std::optional<double> Duration(const StreamTiming& timing,
                               std::optional<double> fps,
                               std::optional<double> container_seconds) {
  if (timing.begin_seconds_from_content && timing.end_seconds_from_content) {
    return *timing.end_seconds_from_content -
           *timing.begin_seconds_from_content;
  }
  if (timing.duration_seconds_from_header) {
    return timing.duration_seconds_from_header;
  }
  if (timing.frame_count_from_header && fps) {
    return static_cast<double>(*timing.frame_count_from_header) / *fps;
  }
  return container_seconds;
}

std::optional<uint64_t> FrameCount(const StreamTiming& timing,
                                   std::optional<double> fps) {
  // A header may claim years; beyond this a double is not exact.
  constexpr double kMostFrames = 1e15;
  if (timing.frame_count_from_content) return timing.frame_count_from_content;
  if (timing.frame_count_from_header) return timing.frame_count_from_header;
  if (!timing.duration_seconds || !fps) return std::nullopt;
  const double frames = *timing.duration_seconds * *fps;
  if (!(frames >= 0 && frames < kMostFrames)) return std::nullopt;
  return static_cast<uint64_t>(frames);
}

}  // namespace

void ChooseBest(StreamTiming& timing, std::optional<double> fps_from_header,
                std::optional<double> container_seconds) {
  timing.begin_seconds = timing.begin_seconds_from_content.value_or(
      timing.begin_seconds_from_header.value_or(0));
  timing.duration_seconds =
      Duration(timing, fps_from_header, container_seconds);
  timing.end_seconds = std::nullopt;
  if (timing.duration_seconds) {
    timing.end_seconds = timing.begin_seconds + *timing.duration_seconds;
  }
  timing.frame_count = FrameCount(timing, fps_from_header);
  timing.average_fps = fps_from_header;
  if (timing.frame_count_from_content && timing.end_seconds_from_content &&
      timing.duration_seconds.value_or(0) > 0) {
    timing.average_fps = static_cast<double>(*timing.frame_count_from_content) /
                         *timing.duration_seconds;
  }
}

}  // namespace bulkhead::session
