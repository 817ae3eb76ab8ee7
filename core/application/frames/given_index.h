// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "core/application/frames/frame_index.h"
#include "core/include/bulkhead/frame_mapping.h"
#include "core/include/bulkhead/status.h"
#include "core/include/bulkhead/video_decoder.h"

namespace bulkhead::frames {

// Functions that make an index without a scan of the packets by a worker.

// Makes an index from the caller's list of frames. Returns kInvalidArgument if
// two frames have the same timestamp, kResourceExhausted for more than
// `max_frames` frames.
Result<FrameIndex> IndexOf(std::span<const FrameMapping> mappings,
                           uint64_t max_frames);

// Makes an index from the average frame rate and the number of frames that the
// file's header states, as if the rate were constant. A frame's real timestamp
// may differ from the index by up to AllowanceOf(). Returns kInvalidArgument if
// the header lacks either value or its times are impossible, kResourceExhausted
// for more than `max_frames` frames.
Result<FrameIndex> ApproximateIndexOf(const VideoMetadata& metadata,
                                      uint64_t max_frames);
// Returns half the time between two frames of an ApproximateIndexOf(), in units
// of the time base.
int64_t AllowanceOf(const VideoMetadata& metadata);

}  // namespace bulkhead::frames
