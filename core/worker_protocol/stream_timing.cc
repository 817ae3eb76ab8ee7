// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/stream_timing.h"

namespace bulkhead::worker_protocol {
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
  // A header may claim any duration. A double is not exact beyond this number
  // of frames.
  constexpr double kMostFrames = 1e15;
  if (timing.frame_count_from_content) return timing.frame_count_from_content;
  if (timing.frame_count_from_header) return timing.frame_count_from_header;
  if (!timing.duration_seconds || !fps) return std::nullopt;
  const double frames = *timing.duration_seconds * *fps;
  if (!(frames >= 0 && frames < kMostFrames)) return std::nullopt;
  return static_cast<uint64_t>(frames);
}

}  // namespace

double Seconds(int64_t ticks, Ratio time_base) {
  return static_cast<double>(ticks) * time_base.numerator /
         time_base.denominator;
}

std::optional<double> SecondsIfTold(int64_t ticks_untrusted, Ratio time_base) {
  if (ticks_untrusted == INT64_MIN || time_base.value() <= 0) {
    return std::nullopt;
  }
  return Seconds(ticks_untrusted, time_base);
}

std::optional<double> DurationIfTold(int64_t ticks_untrusted, Ratio time_base) {
  const auto seconds = SecondsIfTold(ticks_untrusted, time_base);
  return seconds && *seconds > 0 ? seconds : std::nullopt;
}

std::optional<double> FrameRate(Ratio average, Ratio base) {
  for (const Ratio& rate : {average, base}) {
    if (rate.value() > 0) return rate.value();
  }
  return std::nullopt;
}

void ChooseBest(StreamTiming& timing, std::optional<double> fps_from_header,
                std::optional<double> container_seconds) {
  timing.begin_seconds = timing.begin_seconds_from_content.value_or(
      timing.begin_seconds_from_header.value_or(0));
  timing.duration_seconds =
      Duration(timing, fps_from_header, container_seconds);
  timing.end_seconds = timing.end_seconds_from_content;
  if (!timing.end_seconds && timing.duration_seconds) {
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

}  // namespace bulkhead::worker_protocol
