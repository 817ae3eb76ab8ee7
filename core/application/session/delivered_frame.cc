// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/delivered_frame.h"

#include <utility>

#include "core/worker_protocol/stream_timing.h"
#include "ipc/index_entry.h"

namespace bulkhead::session {

Frame MakeFrame(worker_link::PublishedFrame&& published, uint64_t index,
                const VideoMetadata& metadata, const VideoOptions& options,
                std::shared_ptr<const std::string> device) {
  FrameInfo info{.width = published.width,
                 .height = published.height,
                 .stride = published.stride,
                 .dtype = metadata.dtype,
                 .order = options.dimension_order,
                 .index = index,
                 .duration = published.duration,
                 .keyframe = published.keyframe,
                 .damaged = published.damaged,
                 .format = options.output_format,
                 .color = published.facts.color,
                 .field_order = published.facts.field_order};
  if (published.pts != ipc::kNoTimestamp) {
    info.pts = published.pts;
    info.pts_seconds =
        worker_protocol::Seconds(published.pts, metadata.time_base);
  }
  info.duration_seconds =
      worker_protocol::Seconds(published.duration, metadata.time_base);
  return Frame(std::move(published.lease), info, std::move(device),
               std::move(published.native));
}

}  // namespace bulkhead::session
