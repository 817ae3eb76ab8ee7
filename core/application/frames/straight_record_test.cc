// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/straight_record.h"

#include <gtest/gtest.h>

namespace bulkhead::session {
namespace {

using Verdict = StraightRecord::Verdict;

// Eight frames, keyframes at 0 and 4.
class StraightRecordTest : public testing::Test {
 protected:
  StraightRecordTest() {
    for (int64_t pts = 0; pts < 8; ++pts) {
      ipc::IndexEntry entry{};
      entry.pts = pts;
      entry.keyframe = pts % 4 == 0;
      EXPECT_TRUE(index_.Add({&entry, 1}).ok());
    }
    index_.Finish();
    record_ = StraightRecord(&index_);
  }

  Verdict See(std::initializer_list<int64_t> shown) {
    for (const int64_t pts : shown) {
      const Verdict verdict = record_.Saw(pts, false);
      if (verdict != Verdict::kAgrees) return verdict;
    }
    return Verdict::kAgrees;
  }

  FrameIndex index_;
  StraightRecord record_;
};

TEST_F(StraightRecordTest, AWholePassFromAKeyframeIsBelieved) {
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

TEST_F(StraightRecordTest, NoKeyframeLeadsPastDamage) {
  record_.EnterAtBeginning();
  EXPECT_EQ(See({0, 1, 3, 4, 5, 6, 7}), Verdict::kAgrees);
  size_t keyframe = 0;
  EXPECT_FALSE(record_.FindEntry(3, &keyframe));
  ASSERT_TRUE(record_.FindEntry(1, &keyframe));
  EXPECT_EQ(keyframe, 0u);
  ASSERT_TRUE(record_.FindEntry(7, &keyframe));
  EXPECT_EQ(keyframe, 4u);
  ASSERT_TRUE(record_.EnterAt(0));
  EXPECT_EQ(See({0, 1, 3}), Verdict::kDoubtful) << "though it is known";
  ASSERT_TRUE(record_.EnterAt(4));
  EXPECT_EQ(See({6}), Verdict::kContradicts);
  EXPECT_FALSE(record_.FindEntry(7, &keyframe)) << "on the way from 0 is 2";
}

TEST_F(StraightRecordTest, AKeyframeThatLeavesOutWhatIsSoundIsNotUsedAgain) {
  record_.EnterAtBeginning();
  EXPECT_EQ(See({0, 1, 2, 3, 4, 5, 6}), Verdict::kAgrees);
  size_t keyframe = 0;
  ASSERT_TRUE(record_.FindEntry(6, &keyframe));
  EXPECT_EQ(keyframe, 4u);
  ASSERT_TRUE(record_.EnterAt(4));
  EXPECT_EQ(See({6}), Verdict::kContradicts);
  EXPECT_FALSE(record_.EnterAt(4));
  ASSERT_TRUE(record_.FindEntry(6, &keyframe));
  EXPECT_EQ(keyframe, 0u);
}

TEST_F(StraightRecordTest, ADamagedPictureIsDoubtfulAndThenKnown) {
  ASSERT_TRUE(record_.EnterAt(0));
  EXPECT_EQ(record_.Saw(0, true), Verdict::kDoubtful);
  record_.EnterAtBeginning();
  EXPECT_EQ(record_.Saw(0, true), Verdict::kAgrees);
  EXPECT_EQ(record_[0], StraightRecord::Frame::kDamaged);
}

TEST_F(StraightRecordTest, TheEndLosesTheRest) {
  record_.EnterAtBeginning();
  EXPECT_EQ(See({0, 1}), Verdict::kAgrees);
  EXPECT_EQ(record_.SawEnd(), Verdict::kAgrees);
  EXPECT_TRUE(record_.Passed(7));
  EXPECT_EQ(record_[7], StraightRecord::Frame::kMissing);
}

TEST_F(StraightRecordTest, WhatIsNoKeyframeOfTheIndexIsNoEntry) {
  EXPECT_FALSE(record_.EnterAt(100));
  EXPECT_FALSE(record_.EnterAt(INT64_MIN));
}

}  // namespace
}  // namespace bulkhead::session
