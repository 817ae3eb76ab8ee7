// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/damage.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/base/damage_from_ipc.h"
#include "ipc/damage_sign.h"

namespace bulkhead {
namespace {

TEST(DamageSigns, HaveNamesAndTextsOfTheirOwn) {
  std::set<std::string> names;
  std::set<std::string> texts;
  constexpr int kSigns = static_cast<int>(DamageSign::kGap) + 1;
  for (int i = 0; i < kSigns; ++i) {
    names.insert(DamageSignName(static_cast<DamageSign>(i)));
    texts.insert(DamageSignText(static_cast<DamageSign>(i)));
  }
  EXPECT_EQ(names.size(), size_t{kSigns});
  EXPECT_EQ(texts.size(), size_t{kSigns});
  EXPECT_STREQ(DamageSignName(DamageSign::kRefersToDamaged),
               "refers_to_damaged");
  EXPECT_STREQ(DamageSignText(DamageSign::kEndsInPacket),
               "the file ends within its last packet");
}

TEST(DamageSigns, OfNotesAreTheLastOnes) {
  EXPECT_EQ(KindOf(ipc::DamageSign::kUnknown), DamageKind::kDamage);
  EXPECT_EQ(KindOf(ipc::DamageSign::kPromised), DamageKind::kDamage);
  EXPECT_EQ(KindOf(ipc::DamageSign::kMarked), DamageKind::kNote);
  EXPECT_EQ(KindOf(ipc::DamageSign::kGap), DamageKind::kNote);
  EXPECT_EQ(FromIpc(ipc::DamageSign::kCutOff), DamageSign::kCutOff);
  EXPECT_STREQ(DamageKindName(DamageKind::kDamage), "damage");
  EXPECT_STREQ(DamageKindName(DamageKind::kNote), "note");
}

}  // namespace
}  // namespace bulkhead
