// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/witness.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace bulkhead::session {
namespace {

FoundFrame Frame(uint64_t number, uint64_t fingerprint) {
  return {number, {.fingerprint = fingerprint}};
}

// One call that finds frames, whose fingerprint is 100 more than the number.
void Deliver(Witness& witness, std::initializer_list<uint64_t> numbers) {
  witness.Begin();
  for (const uint64_t number : numbers) {
    witness.Found(Frame(number, 100 + number), "acme");
  }
  witness.Delivered();
}

// Finds the frames again on a device whose frame `odd` is another picture.
struct OtherDevice {
  uint64_t odd = UINT64_MAX;
  std::vector<uint64_t> asked = {};

  Witness::Find Find() {
    return [this](uint64_t number) -> Result<FrameFinder::Found> {
      asked.push_back(number);
      return FrameFinder::Found(
          Frame(number, number == odd ? 1 : 100 + number));
    };
  }
};

TEST(WitnessTest, ComparesWhatWasDeliveredOnceInOrder) {
  Witness witness(/*may_move=*/true);
  Deliver(witness, {9, 2});
  Deliver(witness, {5, 9});
  witness.Begin();
  witness.Found(Frame(7, 107),
                "acme");  // the call fails, and goes on elsewhere
  witness.ChangeDevice();
  OtherDevice device;
  const auto compared = witness.Compare(device.Find());
  ASSERT_TRUE(compared && *compared);
  EXPECT_TRUE((*compared)->same);
  EXPECT_EQ((*compared)->frames, 3u);
  EXPECT_EQ(device.asked, (std::vector<uint64_t>{2, 5, 9}));
  const auto again = witness.Compare(device.Find());
  ASSERT_TRUE(again);
  EXPECT_FALSE(*again);
}

TEST(WitnessTest, OneOtherPictureIsEnough) {
  Witness witness(/*may_move=*/true);
  Deliver(witness, {1, 2, 3});
  witness.ChangeDevice();
  OtherDevice device{.odd = 2};
  const auto compared = witness.Compare(device.Find());
  ASSERT_TRUE(compared && *compared);
  EXPECT_FALSE((*compared)->same);
  EXPECT_EQ((*compared)->frames, 0u);
}

TEST(WitnessTest, KeepsNothingThatNobodyWillCompare) {
  Witness still(/*may_move=*/false);
  EXPECT_EQ(still.hasher(), nullptr);
  Deliver(still, {1});
  still.ChangeDevice();
  OtherDevice device;
  const auto compared = still.Compare(device.Find());
  ASSERT_TRUE(compared);
  EXPECT_FALSE(*compared);
  EXPECT_TRUE(device.asked.empty());
}

TEST(WitnessTest, AnErrorOfTheOtherDeviceIsComparedAgain) {
  Witness witness(/*may_move=*/true);
  Deliver(witness, {1});
  witness.ChangeDevice();
  const auto died = witness.Compare([](uint64_t) -> Result<FrameFinder::Found> {
    return Status(Code::kBackendLost, "died");
  });
  EXPECT_FALSE(died);
  OtherDevice device;
  const auto compared = witness.Compare(device.Find());
  ASSERT_TRUE(compared && *compared);
  EXPECT_TRUE((*compared)->same);
}

}  // namespace
}  // namespace bulkhead::session
