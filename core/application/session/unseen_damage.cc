// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/unseen_damage.h"

#include "ipc/damage_sign.h"

namespace bulkhead::session {

Damage DamageOf(const UnseenFrame& frame) {
  const bool says_nothing = frame.sign == ipc::DamageSign::kNoPicture ||
                            frame.sign == ipc::DamageSign::kUnknown;
  return {.sign = frame.sign,
          .pts = frame.pts,
          .duration = frame.duration,
          .position = frame.position,
          .frames = frame.count,
          .words = frame.words,
          .silent = frame.fate == UnseenFrame::Fate::kLost && says_nothing &&
                    frame.words.empty(),
          .not_in_index = frame.fate == UnseenFrame::Fate::kNotInIndex,
          .end_position = frame.end_position,
          .declared_size = frame.declared_size};
}

}  // namespace bulkhead::session
