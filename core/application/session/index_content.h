// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/application/frames/frame_index.h"
#include "core/include/bulkhead/status.h"
#include "core/include/bulkhead/video_decoder.h"
#include "core/include/bulkhead/video_options.h"

namespace bulkhead::session {

// Returns the index that the options or the header of the stream give; nullopt
// if only a scan of the packets makes one.
Result<std::optional<frames::FrameIndex>> IndexWithoutScan(
    const VideoOptions& options, const VideoMetadata& metadata,
    uint64_t max_frames);

// Adds to the metadata what an index of the packets shows of the content.
void AddContent(const frames::FrameIndex& index, VideoMetadata& metadata);

}  // namespace bulkhead::session
