// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/given_index.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/status_macros.h"

namespace bulkhead::frames {
namespace {

// The largest timestamp. A double represents every integer up to about this
// number exactly.
constexpr double kMostUnits = 9e15;

// Returns the time between two frames, in units of the time base.
double FrameUnits(const VideoMetadata& metadata) {
  return std::min(kMostUnits,
                  1 / (*metadata.average_fps * metadata.time_base.value()));
}

}  // namespace

Result<FrameIndex> IndexOf(std::span<const FrameMapping> mappings,
                           uint64_t max_frames) {
  FrameIndex index(max_frames, FrameIndex::Access::kKeyframes);
  for (const FrameMapping& mapping : mappings) {
    ipc::IndexEntry entry{};
    entry.pts = mapping.pts;
    entry.duration = mapping.duration;
    entry.position = -1;
    entry.keyframe = mapping.keyframe ? 1 : 0;
    RETURN_IF_ERROR(index.Add({&entry, 1}));
  }
  index.Finish();
  if (!index.timestamped()) {
    return Status(Code::kInvalidArgument,
                  "the frame mappings give two frames one timestamp");
  }
  return index;
}

Result<FrameIndex> ApproximateIndexOf(const VideoMetadata& metadata,
                                      uint64_t max_frames) {
  if (!metadata.average_fps || !metadata.frame_count) {
    return Status(
        Code::kInvalidArgument,
        std::string("the seek_mode approximate needs a value that the "
                    "file's header lacks: ") +
            (metadata.average_fps ? "the number of frames"
                                  : "an average frame rate") +
            "; use exact");
  }
  if (*metadata.frame_count > max_frames) {
    return FrameIndex::TooManyFrames(max_frames);
  }
  const double unit = metadata.time_base.value();
  const double last =
      (metadata.begin_seconds +
       static_cast<double>(*metadata.frame_count) / *metadata.average_fps) /
      unit;
  if (!(std::abs(last) < kMostUnits)) {
    return Status(
        Code::kInvalidArgument,
        "the seek_mode approximate cannot use the times in the file's "
        "header, which are impossible; use exact");
  }
  FrameIndex index(max_frames, FrameIndex::Access::kKeyframes);
  for (uint64_t i = 0; i < *metadata.frame_count; ++i) {
    ipc::IndexEntry entry{};
    entry.pts = std::llround((metadata.begin_seconds +
                              static_cast<double>(i) / *metadata.average_fps) /
                             unit);
    entry.duration = std::llround(FrameUnits(metadata));
    entry.position = -1;
    // Each entry counts as a keyframe, since nobody knows which frames are
    // keyframes. A seek to any of them finds the keyframe before it.
    entry.keyframe = 1;
    RETURN_IF_ERROR(index.Add({&entry, 1}));
  }
  index.Finish();
  return index;
}

int64_t AllowanceOf(const VideoMetadata& metadata) {
  return std::llround(FrameUnits(metadata) / 2);
}

}  // namespace bulkhead::frames
