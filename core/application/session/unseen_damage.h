// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/application/frames/damage_log.h"
#include "core/application/worker_link/unseen_frame.h"

namespace bulkhead::session {

// Returns the damage that a frame is which the worker did not publish, without
// the frame's number, or the note. Call this for frames that are not sound.
Damage DamageOf(const UnseenFrame& frame);

}  // namespace bulkhead::session
