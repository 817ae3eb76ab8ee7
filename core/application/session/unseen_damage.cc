// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/unseen_damage.h"

namespace bulkhead::session {

Damage DamageOf(const UnseenFrame& frame) {
  return {
      .pts = frame.pts,
      .duration = frame.duration,
      .position = frame.position,
      .frames = frame.count,
      .words = frame.words,
      .silent = frame.fate == UnseenFrame::Fate::kLost && frame.words.empty(),
      .not_in_index = frame.fate == UnseenFrame::Fate::kNotInIndex,
      .end_position = frame.end_position,
      .declared_size = frame.declared_size,
      .declared_frames = frame.declared_frames};
}

}  // namespace bulkhead::session
