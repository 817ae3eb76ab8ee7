// SPDX-License-Identifier: Apache-2.0
#include "ipc/slot_ledger.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace bulkhead::ipc {
namespace {

// Grants every free slot. Returns how many there were.
uint32_t GrantAll(SlotLedger& ledger) {
  uint32_t slots = 0;
  while (ledger.TakeForGrant()) ++slots;
  return slots;
}

TEST(SlotLedgerTest, ASlotGoesFromFreeToGrantedToLeasedToFree) {
  SlotLedger ledger(2);
  const auto grant = ledger.TakeForGrant();
  ASSERT_TRUE(grant);
  EXPECT_EQ(ledger.granted_count(), 1u);
  ASSERT_TRUE(ledger.Publish(grant->slot, grant->generation));
  EXPECT_EQ(ledger.granted_count(), 0u);
  EXPECT_EQ(ledger.leased_count(), 1u);
  ledger.Release(grant->slot);
  EXPECT_EQ(ledger.leased_count(), 0u);
  EXPECT_EQ(GrantAll(ledger), 2u);
}

TEST(SlotLedgerTest, NothingIsGrantedWhenNothingIsFree) {
  SlotLedger ledger(1);
  ASSERT_TRUE(ledger.TakeForGrant());
  EXPECT_FALSE(ledger.TakeForGrant());
}

TEST(SlotLedgerTest, TheSlotReleasedLastIsGrantedFirst) {
  SlotLedger ledger(4);
  const auto grant = *ledger.TakeForGrant();
  ASSERT_TRUE(ledger.Publish(grant.slot, grant.generation));
  ledger.Release(grant.slot);
  const auto again = *ledger.TakeForGrant();
  EXPECT_EQ(again.slot, grant.slot);
  EXPECT_NE(again.generation, grant.generation);
}

TEST(SlotLedgerTest, WhatWasNotGrantedCannotBePublished) {
  SlotLedger ledger(2);
  const auto grant = *ledger.TakeForGrant();
  const uint32_t other = 1 - grant.slot;
  for (const auto& refused :
       {ledger.Publish(grant.slot, grant.generation + 1),
        ledger.Publish(other, 0), ledger.Publish(2, grant.generation),
        ledger.Publish(UINT32_MAX, grant.generation)}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kBackendMisbehaved);
  }
  EXPECT_EQ(ledger.leased_count(), 0u);
}

TEST(SlotLedgerTest, ASlotIsPublishedOnce) {
  SlotLedger ledger(1);
  const auto grant = *ledger.TakeForGrant();
  ASSERT_TRUE(ledger.Publish(grant.slot, grant.generation));
  EXPECT_FALSE(ledger.Publish(grant.slot, grant.generation));
  ledger.Release(grant.slot);
  EXPECT_FALSE(ledger.Publish(grant.slot, grant.generation));
}

TEST(SlotLedgerTest, RevokedGrantsAreFreeAndTheirPublicationIsOld) {
  SlotLedger ledger(3);
  const auto leased = *ledger.TakeForGrant();
  ASSERT_TRUE(ledger.Publish(leased.slot, leased.generation));
  const auto revoked = *ledger.TakeForGrant();
  ledger.RevokeGrants();
  EXPECT_EQ(ledger.granted_count(), 0u);
  EXPECT_EQ(ledger.leased_count(), 1u);
  EXPECT_FALSE(ledger.Publish(revoked.slot, revoked.generation));
  const auto anew = *ledger.TakeForGrant();
  EXPECT_EQ(anew.slot, revoked.slot);
  EXPECT_FALSE(ledger.Publish(revoked.slot, revoked.generation));
  EXPECT_TRUE(ledger.Publish(anew.slot, anew.generation));
  EXPECT_EQ(GrantAll(ledger), 1u);
}

TEST(SlotLedgerTest, ThreadsNeverHoldTheSameSlot) {
  constexpr uint32_t kSlots = 4;
  SlotLedger ledger(kSlots);
  std::atomic<int> holders[kSlots] = {};
  std::atomic<bool> shared_slot = false;
  const auto use = [&] {
    for (int round = 0; round < 2000; ++round) {
      const auto grant = ledger.TakeForGrant();
      if (!grant) continue;
      if (holders[grant->slot]++ != 0) shared_slot = true;
      const auto published = ledger.Publish(grant->slot, grant->generation);
      if (!published) shared_slot = true;
      --holders[grant->slot];
      if (published) ledger.Release(grant->slot);
    }
  };
  std::thread first(use), second(use), third(use);
  first.join();
  second.join();
  third.join();
  EXPECT_FALSE(shared_slot);
  EXPECT_EQ(GrantAll(ledger), kSlots);
}

}  // namespace
}  // namespace bulkhead::ipc
