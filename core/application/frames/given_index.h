// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "core/application/frames/frame_index.h"
#include "core/include/bulkhead/frame_mapping.h"
#include "core/include/bulkhead/status.h"
#include "core/include/bulkhead/video_decoder.h"

namespace bulkhead::session {

// Indices that no worker scanned for.

// As the caller gives it. kInvalidArgument: two frames have one timestamp.
Result<FrameIndex> IndexOf(std::span<const FrameMapping> mappings,
                           uint64_t max_frames);

// Of a stream whose frames come at the constant rate that its header tells.
// Each has its timestamp, of which frames may be half a frame away: that is
// AllowanceOf. kInvalidArgument: the header does not tell the rate or the
// number, so this cannot be asked for.
Result<FrameIndex> ApproximateIndexOf(const VideoMetadata& metadata,
                                      uint64_t max_frames);
// In the time base; of one that has such an index.
int64_t AllowanceOf(const VideoMetadata& metadata);

}  // namespace bulkhead::session
