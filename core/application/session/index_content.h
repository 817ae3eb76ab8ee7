// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/application/frames/frame_index.h"
#include "core/include/bulkhead/status.h"
#include "core/include/bulkhead/video_decoder.h"
#include "core/include/bulkhead/video_options.h"

namespace bulkhead::session {

// Returns an index that needs no scan of the packets: from the options
// (frame_mappings), or guessed from the header (SeekMode::kApproximate).
// Returns nullopt if a scan is needed. `max_frames` is Limits::index_frames.
Result<std::optional<frames::FrameIndex>> IndexWithoutScan(
    const VideoOptions& options, const VideoMetadata& metadata,
    uint64_t max_frames);

// Fills in the members *_from_content of the metadata from an exact index. Then
// chooses average_fps and duration_seconds anew, from header or content.
void AddContent(const frames::FrameIndex& index, VideoMetadata& metadata);

}  // namespace bulkhead::session
