// SPDX-License-Identifier: Apache-2.0
#include "core/application/api/clip_plan.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/random.h"
#include "core/base/status_macros.h"

namespace bulkhead {
namespace {

// The most frames that a plan may have. No machine has the memory for so many.
constexpr uint64_t kMostFrames = uint64_t{1} << 24;

Status Invalid(std::string what) {
  return Status(Code::kInvalidArgument, std::move(what));
}

Status CheckCounts(uint64_t clips, uint64_t frames_per_clip) {
  if (clips == 0 || frames_per_clip == 0) {
    return Invalid("clips and frames_per_clip are positive");
  }
  if (clips > kMostFrames / frames_per_clip) {
    return Status(Code::kResourceExhausted, "a request holds at most " +
                                                std::to_string(kMostFrames) +
                                                " frames; ask for fewer clips");
  }
  return Status();
}

// Completes the clip that begins at plan[first] and reaches to the end of
// `plan`. Adds entries up to frames_per_clip, as the policy says.
template <typename Place>
Status Complete(ClipPolicy policy, uint64_t frames_per_clip, size_t first,
                std::vector<Place>& plan) {
  const size_t there = plan.size() - first;  // entries that the clip has
  if (there < frames_per_clip && policy == ClipPolicy::kError) {
    return Status(Code::kOutOfRange,
                  "a clip of " + std::to_string(frames_per_clip) +
                      " frames reaches beyond the end of the stream");
  }
  for (size_t i = there; i < frames_per_clip; ++i) {
    plan.push_back(policy == ClipPolicy::kWrap ? plan[first + i % there]
                                               : plan[first + there - 1]);
  }
  return Status();
}

}  // namespace

Result<std::vector<int64_t>> PlanClips(const IndexClips& request,
                                       uint64_t frame_count,
                                       std::optional<uint64_t> seed) {
  RETURN_IF_ERROR(CheckCounts(request.clips, request.frames_per_clip));
  if (request.indices_between_frames == 0) {
    return Invalid("indices_between_frames must be positive");
  }
  const auto count = static_cast<int64_t>(frame_count);
  // A negative bound counts from the end of the stream.
  const auto resolve = [count](int64_t bound) {
    return bound < 0 ? bound + count : bound;
  };
  const int64_t start = resolve(request.range_start);
  if (start < 0 || start >= count) {
    return Status(Code::kOutOfRange, "clips cannot begin at frame " +
                                         std::to_string(request.range_start) +
                                         ": there are " +
                                         std::to_string(count));
  }
  // A step of frame_count leads past the end from every frame, so longer steps
  // need not be distinguished. Limiting them avoids an overflow below.
  const int64_t step =
      std::min<int64_t>(static_cast<int64_t>(std::min(
                            request.indices_between_frames, frame_count)),
                        count);
  // The clips begin in [start, end). Without range_end, a clip that begins at
  // end - 1 ends with the last frame of the stream.
  const int64_t span =
      static_cast<int64_t>(request.frames_per_clip - 1) * step + 1;
  const int64_t end = request.range_end
                          ? std::min(resolve(*request.range_end), count)
                          : std::max(count - span + 1, start + 1);
  if (start >= end) return Invalid("range_start must be before range_end");

  Random random(seed.value_or(0));
  const auto places = static_cast<uint64_t>(end - start);
  std::vector<int64_t> plan;
  plan.reserve(request.clips * request.frames_per_clip);
  for (uint64_t clip = 0; clip < request.clips; ++clip) {
    uint64_t place = 0;
    if (seed) {
      place = random.Below(places);
    } else if (request.clips > 1) {
      place = (places - 1) * clip / (request.clips - 1);
    }
    const size_t first = plan.size();
    int64_t index = start + static_cast<int64_t>(place);
    for (uint64_t i = 0; i < request.frames_per_clip && index < count; ++i) {
      plan.push_back(index);
      index += step;
    }
    RETURN_IF_ERROR(
        Complete(request.policy, request.frames_per_clip, first, plan));
  }
  return plan;
}

Result<std::vector<double>> PlanClips(const TimeClips& request,
                                      const SecondsRange& played,
                                      double average_rate,
                                      double between_starts,
                                      std::optional<uint64_t> seed) {
  RETURN_IF_ERROR(CheckCounts(request.clips, request.frames_per_clip));
  if (!request.seconds_between_frames && !(average_rate > 0)) {
    return Invalid(
        "the stream states no frame rate; give seconds_between_frames");
  }
  const double between =
      request.seconds_between_frames.value_or(1 / average_rate);
  if (!(between > 0) || !std::isfinite(between)) {
    return Invalid("seconds_between_frames must be positive");
  }
  if (!seed && (!(between_starts > 0) || !std::isfinite(between_starts))) {
    return Invalid("seconds_between_clip_starts must be positive");
  }
  const double start = request.range_start.value_or(played.begin);
  if (!(start >= played.begin && start < played.end)) {
    return Status(Code::kOutOfRange,
                  "clips cannot begin at " + std::to_string(start) +
                      " s: the stream plays from " +
                      std::to_string(played.begin) + " s until " +
                      std::to_string(played.end) + " s");
  }
  // The clips begin in [start, end). Without range_end, a clip that begins just
  // before `end` still fits into the stream.
  double end =
      played.end - static_cast<double>(request.frames_per_clip - 1) * between;
  if (request.range_end) {
    end = std::min(*request.range_end, played.end);
    if (!(start < end)) return Invalid("range_start must be before range_end");
  }
  const double length = std::max(0.0, end - start);
  uint64_t clips = request.clips;
  if (!seed) {
    const double regular = std::ceil(length / between_starts);
    if (regular > static_cast<double>(kMostFrames)) {
      return CheckCounts(kMostFrames + 1, request.frames_per_clip);
    }
    clips = std::max<uint64_t>(1, static_cast<uint64_t>(regular));
    RETURN_IF_ERROR(CheckCounts(clips, request.frames_per_clip));
  }

  Random random(seed.value_or(0));
  std::vector<double> plan;
  plan.reserve(clips * request.frames_per_clip);
  for (uint64_t clip = 0; clip < clips; ++clip) {
    const double offset = seed ? random.Fraction() * length
                               : static_cast<double>(clip) * between_starts;
    const size_t first = plan.size();
    for (uint64_t i = 0; i < request.frames_per_clip; ++i) {
      const double at = start + offset + static_cast<double>(i) * between;
      if (i > 0 && at >= played.end) break;
      // Rounding may have moved the first frame of a clip to the end of the
      // stream, where no frame is played.
      plan.push_back(at < played.end ? at : start);
    }
    RETURN_IF_ERROR(
        Complete(request.policy, request.frames_per_clip, first, plan));
  }
  return plan;
}

}  // namespace bulkhead
