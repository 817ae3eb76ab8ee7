// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/application/frames/damage_log.h"
#include "core/application/frames/frame_index.h"
#include "core/application/worker_link/media_input.h"
#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/status.h"
#include "core/include/bulkhead/video_decoder.h"
#include "ipc/damage_sign.h"

namespace bulkhead::session {

// The damage of a video stream that no worker reports: frames that the index or
// the header promised, and that did not come.

// Returns the sign of a frame that the index has and a pass does not give.
ipc::DamageSign WhyMissing(const worker_link::MediaInput& input);

// Records the loss of the frames after the first `got` if the file has become
// shorter. Returns false if there is none.
bool AddUncounted(uint64_t got, const worker_link::MediaInput& input,
                  const VideoMetadata& metadata, frames::DamageLog& log);

// Checks at the end of the stream, after `got` frames, that every frame of the
// index came, and that the file is as long as it was. What did not come is
// damage, and an error if `on_corrupt` says so. `index` lists every frame of
// the file as it was when it was opened; null if there is none.
Status CheckEnd(uint64_t got, const frames::FrameIndex* index,
                OnCorrupt on_corrupt, const worker_link::MediaInput& input,
                const VideoMetadata& metadata, frames::DamageLog& log);

// Returns the error for the frame with the number `frame`, which the file has
// lost, and for a scan that could not count the frames.
Status LostFrameError(uint64_t frame, const worker_link::MediaInput& input);
Status UncountedError(const worker_link::MediaInput& input);

// Adds to an error that the file has become shorter, if it has: that explains
// whatever a worker says of the file.
Status NamingTheLoss(Status failure, const worker_link::MediaInput& input);

}  // namespace bulkhead::session
