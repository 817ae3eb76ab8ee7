// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/index_content.h"

#include <algorithm>
#include <utility>

#include "core/application/frames/given_index.h"
#include "core/base/status_macros.h"
#include "core/worker_protocol/stream_timing.h"

namespace bulkhead::session {

Result<std::optional<frames::FrameIndex>> IndexWithoutScan(
    const VideoOptions& options, const VideoMetadata& metadata,
    uint64_t max_frames) {
  if (!options.frame_mappings.empty()) {
    ASSIGN_OR_RETURN(auto index,
                     frames::IndexOf(options.frame_mappings, max_frames));
    return std::make_optional(std::move(index));
  }
  if (options.seek_mode == SeekMode::kApproximate) {
    ASSIGN_OR_RETURN(auto index,
                     frames::ApproximateIndexOf(metadata, max_frames));
    return std::make_optional(std::move(index));
  }
  return std::optional<frames::FrameIndex>();
}

void AddContent(const frames::FrameIndex& index, VideoMetadata& metadata) {
  metadata.frame_count_from_content = index.size();
  if (index.has_times() && index.size() > 0) {
    // FrameTimes computes these times in the same way, so they agree with
    // PlayedRange().
    const auto seconds = [&](int64_t ticks) {
      return worker_protocol::Seconds(ticks, metadata.time_base);
    };
    metadata.begin_seconds_from_content = seconds(index[0].pts);
    double end = seconds(index[0].pts);
    for (size_t i = 0; i < index.size(); ++i) {
      end = std::max(end, seconds(index[i].pts) + seconds(index[i].duration));
    }
    metadata.end_seconds_from_content = end;
  }
  worker_protocol::ChooseBest(metadata, metadata.average_fps,
                              metadata.duration_seconds);
}

}  // namespace bulkhead::session
