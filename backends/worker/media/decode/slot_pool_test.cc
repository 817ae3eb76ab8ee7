// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/slot_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace bulkhead::worker::decode {
namespace {

constexpr uint32_t kSlots = 4;

class SlotPoolTest : public testing::Test {
 protected:
  void GrantAll() {
    for (uint32_t slot = 0; slot < kSlots; ++slot) pool_.Grant(slot, 1);
  }
  uint32_t Take() { return pool_.Take().value().index; }

  std::vector<uint8_t> memory_ = std::vector<uint8_t>(kSlots * 4096);
  SlotPool pool_{memory_.data(), kSlots, 4096};
};

TEST_F(SlotPoolTest, AConversionTakesTheSlotThatWasGrantedLast) {
  GrantAll();
  EXPECT_EQ(Take(), 3u);
  EXPECT_EQ(Take(), 2u);
  pool_.Publish(3);
  EXPECT_EQ(Take(), 1u) << "the host has slot 3";
  pool_.Grant(3, 2);
  EXPECT_EQ(Take(), 3u);
}

TEST_F(SlotPoolTest, AHostThatKeepsUpNeedsTwoSlots) {
  GrantAll();
  uint32_t held = Take();
  pool_.Publish(held);
  for (int i = 0; i < 10; ++i) {
    const uint32_t next = Take();
    EXPECT_GE(next, 2u);
    pool_.Publish(next);
    pool_.Grant(held, 2);
    held = next;
  }
}

TEST_F(SlotPoolTest, ADecoderGetsAllSlotsButOneInTurn) {
  GrantAll();
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(pool_.TakePinned().value().index, i);
  }
  EXPECT_FALSE(pool_.TakePinned());
  pool_.Release(1);
  EXPECT_EQ(pool_.TakePinned().value().index, 3u);
}

}  // namespace
}  // namespace bulkhead::worker::decode
