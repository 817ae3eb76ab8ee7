// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/application/frames/damage_log.h"
#include "core/application/worker_link/media_input.h"
#include "core/include/bulkhead/status.h"
#include "core/include/bulkhead/video_decoder.h"
#include "ipc/damage_sign.h"

namespace bulkhead::session {

// Pure functions that return texts of errors about damage.

// Returns `words` as the end of an error message: "; backend acme says: ...".
// For the sign kStopped, names libavformat instead of the backend. Returns ""
// if `words` is empty.
std::string Quote(const std::string& backend, const std::string& words,
                  ipc::DamageSign sign);

// Returns kBadInput for a caller who waits for a frame that is damaged or
// missing. `log`, which already has the damage, adds the backend's words.
Status DamagedError(const frames::Damage& damage,
                    const worker_link::MediaInput& input,
                    const VideoMetadata& metadata,
                    const frames::DamageLog& log);

}  // namespace bulkhead::session
