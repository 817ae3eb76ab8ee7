// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/application/frames/damage_log.h"
#include "core/application/worker_link/media_input.h"
#include "core/include/bulkhead/status.h"
#include "core/include/bulkhead/video_decoder.h"
#include "ipc/damage_sign.h"

namespace bulkhead::session {

// The words by which errors describe damage. Pure functions.

// Returns how an error about damage quotes the backend, or libavformat where
// that stopped; nothing if there are no words.
std::string Quote(const std::string& backend, const std::string& words,
                  ipc::DamageSign sign);

// Returns the error for damage in place of a frame that the caller waits for.
// `log` has the damage.
Status DamagedError(const frames::Damage& damage,
                    const worker_link::MediaInput& input,
                    const VideoMetadata& metadata,
                    const frames::DamageLog& log);

}  // namespace bulkhead::session
