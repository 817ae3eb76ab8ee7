// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/witness.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace bulkhead::session {
namespace {

// Collects the comparisons that a witness reports.
struct Reports {
  std::vector<Comparison> made = {};

  Witness::Report Report() {
    return [this](const Comparison& comparison) { made.push_back(comparison); };
  }
};

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
  Reports reports;
  Witness witness(/*may_move=*/true, reports.Report());
  Deliver(witness, {9, 2});
  Deliver(witness, {5, 9});
  witness.Begin();
  witness.Found(Frame(7, 107),
                "acme");  // the call fails, and goes on elsewhere
  witness.ChangeDevice();
  OtherDevice device;
  ASSERT_TRUE(witness.FindCompared(device.Find(), 7));
  ASSERT_EQ(reports.made.size(), 1u);
  EXPECT_TRUE(reports.made[0].same);
  EXPECT_EQ(reports.made[0].frames, 3u);
  EXPECT_EQ(device.asked, (std::vector<uint64_t>{2, 5, 9, 7}));
  ASSERT_TRUE(witness.FindCompared(device.Find(), 8));
  EXPECT_EQ(reports.made.size(), 1u);
}

TEST(WitnessTest, OneOtherPictureIsEnough) {
  Reports reports;
  Witness witness(/*may_move=*/true, reports.Report());
  Deliver(witness, {1, 2, 3});
  witness.ChangeDevice();
  OtherDevice device{.odd = 2};
  ASSERT_TRUE(witness.FindCompared(device.Find(), 4));
  ASSERT_EQ(reports.made.size(), 1u);
  EXPECT_FALSE(reports.made[0].same);
  EXPECT_EQ(reports.made[0].frames, 0u);
  EXPECT_EQ(device.asked, (std::vector<uint64_t>{1, 2, 4}));
}

TEST(WitnessTest, KeepsNothingThatNobodyWillCompare) {
  Reports reports;
  Witness still(/*may_move=*/false, reports.Report());
  EXPECT_EQ(still.hasher(), nullptr);
  Deliver(still, {1});
  still.ChangeDevice();
  OtherDevice device;
  ASSERT_TRUE(still.FindCompared(device.Find(), 2));
  EXPECT_TRUE(reports.made.empty());
  EXPECT_EQ(device.asked, (std::vector<uint64_t>{2}));
}

TEST(WitnessTest, AnErrorOfTheOtherDeviceIsComparedAgain) {
  Reports reports;
  Witness witness(/*may_move=*/true, reports.Report());
  Deliver(witness, {1});
  witness.ChangeDevice();
  const auto died = witness.FindCompared(
      [](uint64_t) -> Result<FrameFinder::Found> {
        return Status(Code::kBackendLost, "died");
      },
      2);
  EXPECT_FALSE(died);
  EXPECT_TRUE(reports.made.empty());
  OtherDevice device;
  ASSERT_TRUE(witness.FindCompared(device.Find(), 2));
  ASSERT_EQ(reports.made.size(), 1u);
  EXPECT_TRUE(reports.made[0].same);
}

TEST(WitnessTest, FramesOfNextAreComparedByTheirNumbers) {
  Reports reports;
  Witness witness(/*may_move=*/false, reports.Report());
  for (const uint64_t print : {100, 101, 102}) witness.Record(print);
  witness.DropOldest();
  EXPECT_TRUE(witness.IsSame(1, 101));
  EXPECT_TRUE(witness.IsSame(2, 102));
  EXPECT_FALSE(witness.IsSame(2, 101));
  EXPECT_FALSE(witness.IsSame(2, 0)) << "a frame without a picture";
  EXPECT_FALSE(witness.proving());
  EXPECT_FALSE(witness.goes_on_uncompared());
  witness.Rewind();
  witness.Record(7);
  EXPECT_TRUE(witness.IsSame(0, 7));
}

TEST(WitnessTest, NextGoesOnWhereTheOtherDeviceShowsTheSame) {
  Reports reports;
  Witness witness(/*may_move=*/true, reports.Report());
  witness.ChangeDevice();
  EXPECT_FALSE(witness.proving()) << "nothing was delivered";
  witness.Record(100);
  witness.ChangeDevice();
  ASSERT_TRUE(witness.proving());
  witness.Replayed(/*same=*/true, /*pictures=*/1);
  EXPECT_FALSE(witness.proving());
  ASSERT_EQ(reports.made.size(), 1u);
  EXPECT_TRUE(reports.made[0].same);
  EXPECT_EQ(reports.made[0].frames, 1u);
  EXPECT_FALSE(witness.IsSame(0, 1));
}

TEST(WitnessTest, EqualDamageProvesNothing) {
  Reports reports;
  Witness witness(/*may_move=*/true, reports.Report());
  witness.Record(0);
  witness.ChangeDevice();
  witness.Replayed(/*same=*/true, /*pictures=*/0);
  EXPECT_TRUE(reports.made.empty());
  EXPECT_FALSE(witness.proving());
}

TEST(WitnessTest, PicturesThatDifferElsewhereAreComparedNoMore) {
  Reports reports;
  Witness witness(/*may_move=*/true, reports.Report());
  for (const uint64_t print : {100, 101}) witness.Record(print);
  witness.DropOldest();
  witness.ChangeDevice();
  witness.Replayed(/*same=*/false, /*pictures=*/0);
  ASSERT_EQ(reports.made.size(), 1u);
  EXPECT_FALSE(reports.made[0].same);
  witness.Record(202);
  EXPECT_TRUE(witness.IsSame(1, 1)) << "a picture of the first device";
  EXPECT_FALSE(witness.IsSame(2, 1)) << "a picture of the other device";
  EXPECT_TRUE(witness.goes_on_uncompared());
  witness.DropOldest();
  EXPECT_FALSE(witness.goes_on_uncompared());
  EXPECT_FALSE(witness.IsSame(2, 1));
}

}  // namespace
}  // namespace bulkhead::session
