// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/straight_record.h"

#include <gtest/gtest.h>

namespace bulkhead::frames {
namespace {

using Verdict = StraightRecord::Verdict;

// Eight frames, of which decoding may begin at 0 and 4.
class StraightRecordTest : public testing::Test {
 protected:
  StraightRecordTest() {
    for (int64_t pts = 0; pts < 8; ++pts) {
      ipc::IndexEntry entry{};
      entry.pts = pts;
      entry.position = 100 * pts;
      entry.check = pts % 4 == 0 ? 7 : 0;
      EXPECT_TRUE(index_.Add({&entry, 1}).ok());
    }
    index_.Finish();
    record_ = StraightRecord(&index_);
  }

  Verdict See(std::initializer_list<int64_t> shown) {
    for (const int64_t pts : shown) {
      const Verdict verdict = record_.Saw(pts, 100 * pts, false);
      if (verdict != Verdict::kAgrees) return verdict;
    }
    return Verdict::kAgrees;
  }

  FrameIndex index_;
  StraightRecord record_;
};

TEST_F(StraightRecordTest, AWholePassFromAnEntryIsBelieved) {
  ASSERT_TRUE(record_.EnterAt(4));
  EXPECT_EQ(See({2, 3, 4, 5}), Verdict::kAgrees) << "leading pictures";
  EXPECT_TRUE(record_.Passed(5));
  EXPECT_FALSE(record_.Passed(6));
}

TEST_F(StraightRecordTest, AGapIsDoubtfulUntilTheBeginningWasSeen) {
  ASSERT_TRUE(record_.EnterAt(4));
  EXPECT_EQ(See({4, 6}), Verdict::kDoubtful);
  record_.EnterAtBeginning();
  EXPECT_EQ(See({0, 1, 2, 3, 4, 6}), Verdict::kAgrees);
  EXPECT_EQ(record_[5], StraightRecord::Frame::kMissing);
}

TEST_F(StraightRecordTest, NoEntryLeadsPastDamage) {
  record_.EnterAtBeginning();
  EXPECT_EQ(See({0, 1, 3, 4, 5, 6, 7}), Verdict::kAgrees);
  EXPECT_EQ(record_.FindEntry(3), std::nullopt);
  EXPECT_EQ(record_.FindEntry(1), 0u);
  EXPECT_EQ(record_.FindEntry(7), 4u);
  ASSERT_TRUE(record_.EnterAt(0));
  EXPECT_EQ(See({0, 1, 3}), Verdict::kDoubtful) << "though it is known";
  ASSERT_TRUE(record_.EnterAt(4));
  EXPECT_EQ(See({6}), Verdict::kContradicts);
  EXPECT_EQ(record_.FindEntry(7), std::nullopt) << "on the way from 0 is 2";
}

TEST_F(StraightRecordTest, AnEntryThatLeavesOutWhatIsSoundIsNotUsedAgain) {
  record_.EnterAtBeginning();
  EXPECT_EQ(See({0, 1, 2, 3, 4, 5, 6}), Verdict::kAgrees);
  EXPECT_EQ(record_.FindEntry(6), 4u);
  ASSERT_TRUE(record_.EnterAt(4));
  EXPECT_EQ(See({6}), Verdict::kContradicts);
  EXPECT_FALSE(record_.EnterAt(4));
  EXPECT_EQ(record_.FindEntry(6), 0u);
}

TEST_F(StraightRecordTest, ADamagedPictureIsDoubtfulAndThenKnown) {
  ASSERT_TRUE(record_.EnterAt(0));
  EXPECT_EQ(record_.Saw(0, 0, true), Verdict::kDoubtful);
  record_.EnterAtBeginning();
  EXPECT_EQ(record_.Saw(0, 0, true), Verdict::kAgrees);
  EXPECT_EQ(record_[0], StraightRecord::Frame::kDamaged);
}

TEST_F(StraightRecordTest, APictureOfAnotherPlaceIsDoubtful) {
  ASSERT_TRUE(record_.EnterAt(4));
  EXPECT_EQ(record_.Saw(4, -1, false), Verdict::kAgrees) << "not known";
  EXPECT_EQ(record_.Saw(5, 600, false), Verdict::kDoubtful);
  EXPECT_FALSE(record_.EnterAt(4));
  record_.EnterAtBeginning();
  EXPECT_EQ(record_.Saw(0, 600, false), Verdict::kAgrees);
}

TEST_F(StraightRecordTest, TheEndLosesTheRest) {
  record_.EnterAtBeginning();
  EXPECT_EQ(See({0, 1}), Verdict::kAgrees);
  EXPECT_EQ(record_.SawEnd(), Verdict::kAgrees);
  EXPECT_TRUE(record_.Passed(7));
  EXPECT_EQ(record_[7], StraightRecord::Frame::kMissing);
}

TEST_F(StraightRecordTest, WhatIsNoFrameOfTheIndexIsNoEntry) {
  EXPECT_FALSE(record_.EnterAt(100));
  EXPECT_FALSE(record_.EnterAt(INT64_MIN));
}

}  // namespace
}  // namespace bulkhead::frames
