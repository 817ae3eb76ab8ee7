// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/include/bulkhead/damage.h"
#include "ipc/damage_sign.h"

namespace bulkhead {

// Converts a sign of damage of ipc/, which the public headers do not include,
// to the public interface. Both enumerations have the same values.

inline DamageSign FromIpc(ipc::DamageSign sign) {
  static_assert(static_cast<int>(DamageSign::kRejected) ==
                static_cast<int>(ipc::DamageSign::kRejected));
  static_assert(static_cast<int>(DamageSign::kPromised) ==
                static_cast<int>(ipc::DamageSign::kPromised));
  static_assert(static_cast<int>(DamageSign::kMarked) ==
                static_cast<int>(ipc::DamageSign::kMarked));
  static_assert(static_cast<int>(DamageSign::kGap) ==
                static_cast<int>(ipc::kLastDamageSign));
  return static_cast<DamageSign>(sign);
}

// Returns whether the sign stands for damage or for a note.
inline DamageKind KindOf(ipc::DamageSign sign) {
  return ipc::IsNote(sign) ? DamageKind::kNote : DamageKind::kDamage;
}

}  // namespace bulkhead
