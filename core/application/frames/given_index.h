// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "core/application/frames/frame_index.h"
#include "core/include/bulkhead/frame_mapping.h"
#include "core/include/bulkhead/status.h"
#include "core/include/bulkhead/video_decoder.h"

namespace bulkhead::frames {

// Functions that make an index without a worker's scan of the packets.

// Makes an index of the frames that the caller of the library lists. Returns
// kInvalidArgument if two frames have the same timestamp.
Result<FrameIndex> IndexOf(std::span<const FrameMapping> mappings,
                           uint64_t max_frames);

// Makes an index of a stream as if its frames came at the constant rate that
// the header states. The timestamp of a frame may be up to AllowanceOf() away
// from the one in the index. Returns kInvalidArgument if the header does not
// state the rate or the number of frames.
Result<FrameIndex> ApproximateIndexOf(const VideoMetadata& metadata,
                                      uint64_t max_frames);
// Returns half the time between two frames of an approximate index, in the time
// base.
int64_t AllowanceOf(const VideoMetadata& metadata);

}  // namespace bulkhead::frames
