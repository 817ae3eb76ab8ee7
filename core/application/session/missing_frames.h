// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/application/frames/damage_log.h"
#include "core/application/frames/frame_index.h"
#include "core/application/worker_link/media_input.h"
#include "core/include/bulkhead/status.h"
#include "core/include/bulkhead/video_decoder.h"
#include "core/include/bulkhead/video_options.h"
#include "ipc/damage_sign.h"

namespace bulkhead::session {

// Functions about damage of a video stream that no worker reports: the index or
// the header has frames that no worker delivers. In most cases the file has
// become shorter since it was opened.

// Returns the sign of damage for a frame that the index has and a pass does not
// show: kShrunk if the file has become shorter, kPromised if not.
ipc::DamageSign WhyMissing(const worker_link::MediaInput& input);

// If the file has become shorter, records in `log` that the frames after the
// first `got` are missing, and returns true. Returns false if the file is not
// shorter, or if the header promises no more than `got` frames.
bool AddUncounted(uint64_t got, const worker_link::MediaInput& input,
                  const VideoMetadata& metadata, frames::DamageLog& log);

// Checks, after a pass has ended with `got` frames, that every frame of the
// index has come and that the file has not become shorter. Records missing
// frames in `log`, and returns an error for them if `on_corrupt` is kError.
// `index` lists every frame that the file had when it was opened; null if there
// is no such index.
Status CheckEnd(uint64_t got, const frames::FrameIndex* index,
                OnCorrupt on_corrupt, const worker_link::MediaInput& input,
                const VideoMetadata& metadata, frames::DamageLog& log);

// Return errors about a file that has become shorter. LostFrameError(): frame
// number `frame` is missing. UncountedError(): a scan could not count the
// frames.
Status LostFrameError(uint64_t frame, const worker_link::MediaInput& input);
Status UncountedError(const worker_link::MediaInput& input);

// If the file has become shorter, appends that fact to a `failure` about the
// input, since it is usually the cause. Returns other failures unchanged.
Status NamingTheLoss(Status failure, const worker_link::MediaInput& input);

}  // namespace bulkhead::session
