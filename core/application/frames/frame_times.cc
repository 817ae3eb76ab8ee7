// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/frame_times.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "core/base/status_macros.h"
#include "core/worker_protocol/stream_timing.h"
#include "ipc/limit_name.h"

namespace bulkhead::frames {
namespace {

constexpr double kMostTolerance = 1e-6;

// Returns the duration, in seconds, of a last frame that states none.
double LastDuration(const FrameIndex& index, Ratio time_base,
                    Ratio average_frame_rate) {
  const size_t count = index.size();
  if (count > 1) {
    return worker_protocol::Seconds(index[count - 1].pts, time_base) -
           worker_protocol::Seconds(index[count - 2].pts, time_base);
  }
  if (average_frame_rate.numerator > 0 && average_frame_rate.denominator > 0) {
    return 1 / average_frame_rate.value();
  }
  return worker_protocol::Seconds(1, time_base);
}

Status TooMany(double frames, uint64_t max_frames) {
  return Status(Code::kResourceExhausted,
                "the range holds " + std::to_string(frames) +
                    " frames, more than the " + std::to_string(max_frames) +
                    " that there is room for; ask for less at once, or raise " +
                    ipc::LimitName("session_bytes"));
}

}  // namespace

FrameTimes::FrameTimes(const FrameIndex& index, Ratio time_base)
    : index_(&index),
      time_base_(time_base),
      tolerance_(std::min(kMostTolerance,
                          worker_protocol::Seconds(1, time_base) / 2)) {}

Result<FrameTimes> FrameTimes::Create(const FrameIndex& index, Ratio time_base,
                                      Ratio average_frame_rate) {
  if (index.size() == 0) {
    return Status(Code::kBadInput, "the stream has no frames");
  }
  if (!index.has_times()) {
    size_t without = 0;
    for (size_t i = 0; i < index.size(); ++i) {
      without += index[i].pts == ipc::kNoTimestamp;
    }
    std::string reason =
        "its timestamps repeat, or do not follow the order of its pictures";
    if (without == index.size()) {
      reason = "its frames have no timestamps";
    } else if (without > 0) {
      reason = std::to_string(without) + " of its " +
               std::to_string(index.size()) + " frames have no timestamp";
    }
    return Status(Code::kBadInput, reason +
                                       ", so no frame can be found by "
                                       "time; ask for frames by index");
  }
  FrameTimes times(index, time_base);
  times.begin_ = worker_protocol::Seconds(index[0].pts, time_base);
  const auto& last = index[index.size() - 1];
  const double shown = last.duration > 0
                           ? worker_protocol::Seconds(last.duration, time_base)
                           : LastDuration(index, time_base, average_frame_rate);
  times.end_ = worker_protocol::Seconds(last.pts, time_base) + shown;
  for (size_t i = 0; i < index.size(); ++i) {
    times.end_ = std::max(
        times.end_, worker_protocol::Seconds(index[i].pts, time_base) +
                        worker_protocol::Seconds(index[i].duration, time_base));
  }
  return times;
}

uint64_t FrameTimes::FrameShownAt(double seconds) const {
  // Finds the first frame that begins after `seconds`. The frame before it is
  // shown.
  size_t low = 0;
  size_t high = index_->size();
  while (low < high) {
    const size_t middle = std::midpoint(low, high);
    if (worker_protocol::Seconds((*index_)[middle].pts, time_base_) <=
        seconds + tolerance_) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? 0 : low - 1;
}

Status FrameTimes::BeyondError(const char* what, double seconds) const {
  return Status(Code::kOutOfRange,
                what + std::to_string(seconds) +
                    " s is not in the stream, which plays from " +
                    std::to_string(begin_) + " s until " +
                    std::to_string(end_) + " s");
}

Result<uint64_t> FrameTimes::PlayedAt(double seconds) const {
  if (!std::isfinite(seconds)) {
    return Status(Code::kInvalidArgument, "the time is not a number");
  }
  if (seconds < begin_ - tolerance_ || seconds >= end_) {
    return BeyondError("", seconds);
  }
  return FrameShownAt(seconds);
}

Result<FrameChoice> FrameTimes::PlayedAt(
    std::span<const double> seconds) const {
  FrameChoice choice;
  choice.indices.reserve(seconds.size());
  for (const double at : seconds) {
    ASSIGN_OR_RETURN(const uint64_t index, PlayedAt(at));
    choice.indices.push_back(index);
  }
  return choice;
}

Result<FrameChoice> FrameTimes::PlayedInRange(double start, double stop,
                                              std::optional<double> fps,
                                              uint64_t max_frames) const {
  if (!(start <= stop) || !std::isfinite(start) || !std::isfinite(stop)) {
    return Status(Code::kInvalidArgument,
                  "a range begins before it ends; this one is from " +
                      std::to_string(start) + " s until " +
                      std::to_string(stop) + " s");
  }
  if (fps && !(*fps > 0 && std::isfinite(*fps))) {
    return Status(Code::kInvalidArgument,
                  "fps is " + std::to_string(*fps) + "; it must be positive");
  }
  if (start < begin_ - tolerance_ || start >= end_) {
    return BeyondError("start ", start);
  }
  if (stop > end_ + tolerance_) return BeyondError("stop ", stop);
  FrameChoice choice;
  if (start == stop) return choice;

  if (!fps) {
    const uint64_t first = FrameShownAt(start);
    uint64_t last = FrameShownAt(stop);
    // A frame that begins at `stop` is not in the range.
    const double last_begins =
        worker_protocol::Seconds((*index_)[last].pts, time_base_);
    if (last > first && last_begins >= stop - tolerance_) --last;
    const uint64_t count = last - first + 1;
    if (count > max_frames) {
      return TooMany(static_cast<double>(count), max_frames);
    }
    choice.indices.resize(count);
    std::iota(choice.indices.begin(), choice.indices.end(), first);
    return choice;
  }
  // With fps, each picture has its own time, and frames may repeat.
  const double count = std::round((stop - start) * *fps);
  if (count > static_cast<double>(max_frames)) {
    return TooMany(count, max_frames);
  }
  choice.duration_seconds = 1 / *fps;
  for (uint64_t i = 0; i < static_cast<uint64_t>(count); ++i) {
    const double at = start + static_cast<double>(i) / *fps;
    choice.indices.push_back(FrameShownAt(at));
    choice.pts_seconds.push_back(at);
  }
  return choice;
}

}  // namespace bulkhead::frames
