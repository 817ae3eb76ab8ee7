// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/shadow/frame_matcher.h"

#include <gtest/gtest.h>

#include "ipc/index_entry.h"

namespace bulkhead::shadow {
namespace {

constexpr int64_t kTicks = 40;  // from one frame to the next

class FrameMatcherTest : public testing::Test {
 protected:
  static ShownFrame Shown(uint64_t number, bool in_order = true) {
    return {.number = number,
            .pts = static_cast<int64_t>(number) * kTicks,
            .seconds = static_cast<double>(number) / 25,
            .hash = 1000 + number,
            .in_order = in_order};
  }
  static ShadowPicture Picture(uint64_t number) {
    return {.pts = static_cast<int64_t>(number) * kTicks,
            .hash = 1000 + number};
  }
  void Show(uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) matcher_.Show(Shown(i));
  }
  // Decodes pictures for as long as the matcher asks for them.
  void Decode(uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end && matcher_.wants_picture(); ++i) {
      matcher_.Decoded(Picture(i));
    }
  }
  void Expect(uint64_t compared, uint64_t differing, uint64_t not_compared) {
    EXPECT_EQ(matcher_.compared(), compared);
    EXPECT_EQ(matcher_.differing(), differing);
    EXPECT_EQ(matcher_.not_compared(), not_compared);
  }

  FrameMatcher matcher_{"cpu"};
};

TEST_F(FrameMatcherTest, EqualFramesDoNotDiffer) {
  Show(0, 10);
  EXPECT_TRUE(matcher_.wants_picture());
  Decode(0, 10);
  EXPECT_FALSE(matcher_.wants_picture());
  matcher_.Show({.number = 10, .in_order = true, .ended = true});
  EXPECT_TRUE(matcher_.wants_picture());
  matcher_.Ended();
  Expect(10, 0, 0);
}

TEST_F(FrameMatcherTest, TheFirstOtherPictureIsNamed) {
  Show(0, 3);
  ShownFrame other = Shown(3);
  other.hash = 7;
  matcher_.Show(other);
  matcher_.Show(Shown(4));
  Decode(0, 5);
  Expect(5, 1, 0);
  ASSERT_TRUE(matcher_.first());
  EXPECT_EQ(matcher_.first()->frame, 3u);
  EXPECT_EQ(matcher_.first()->compared, 4u);
  EXPECT_EQ(matcher_.first()->words, "its picture");
}

TEST_F(FrameMatcherTest, AFrameThatIsLeftOutOrMadeUpIsADifference) {
  Show(0, 2);
  Decode(0, 2);
  // The third frame of the file is left out, and what follows it is numbered
  // as if it had never been there.
  ShownFrame fourth = Shown(3);
  fourth.number = 2;
  matcher_.Show(fourth);
  Decode(2, 4);
  Expect(4, 1, 0);
  ShownFrame invented = Shown(3);
  invented.number = 3;
  invented.pts += kTicks / 2;
  matcher_.Show(invented);
  Decode(4, 5);
  Expect(5, 2, 0);
}

TEST_F(FrameMatcherTest, AnEndThatComesTooSoonOrTooLateIsADifference) {
  Show(0, 2);
  Decode(0, 2);
  matcher_.Show({.number = 2, .in_order = true, .ended = true});
  Decode(2, 4);
  matcher_.Ended();
  Expect(4, 2, 0);
  FrameMatcher late("cpu");
  late.Show(Shown(0));
  late.Ended();
  EXPECT_EQ(late.differing(), 1u);
}

TEST_F(FrameMatcherTest, FramesByIndexAreComparedWhileTheyAscend) {
  matcher_.Show(Shown(5, /*in_order=*/false));
  matcher_.Show(Shown(8, false));
  matcher_.Show(Shown(2, false));  // goes back
  matcher_.Show(Shown(9, false));
  Decode(0, 10);
  Expect(3, 0, 1);
  // Next() begins at the start, which the shadow has passed.
  Show(0, 12);
  Decode(10, 12);
  Expect(5, 0, 11);
}

TEST_F(FrameMatcherTest, AFrameByIndexThatTheShadowLacksIsNoDifference) {
  ShownFrame between = Shown(2, /*in_order=*/false);
  between.pts += 1;
  matcher_.Show(between);
  Decode(0, 4);
  Expect(0, 0, 1);
}

TEST_F(FrameMatcherTest, DamageIsNoDifference) {
  Show(0, 2);
  Decode(0, 2);
  // The application has heard that frame 2 is damaged, and goes on after it.
  matcher_.Show(Shown(3));
  Decode(2, 4);
  Expect(3, 0, 0);
  ShownFrame damaged = Shown(4);
  damaged.damaged = true;
  damaged.hash = 7;
  matcher_.Show(damaged);
  Decode(4, 5);
  Expect(3, 0, 1);
  matcher_.MetDamage();
  Show(5, 8);
  EXPECT_FALSE(matcher_.wants_picture());
  EXPECT_TRUE(matcher_.over());
  Expect(3, 0, 4);
}

TEST_F(FrameMatcherTest, WithoutTimestampsFramesAreCountedInstead) {
  for (uint64_t i = 0; i < 3; ++i) {
    ShownFrame frame = Shown(i);
    frame.pts = ipc::kNoTimestamp;
    matcher_.Show(frame);
    matcher_.Decoded({.pts = ipc::kNoTimestamp, .hash = 1000 + i});
  }
  ShownFrame by_index = Shown(1, /*in_order=*/false);
  by_index.pts = ipc::kNoTimestamp;
  matcher_.Show(by_index);
  matcher_.Decoded({.pts = ipc::kNoTimestamp, .hash = 1003});
  Expect(3, 0, 1);
}

TEST_F(FrameMatcherTest, TimestampsThatRepeatAreNoOrder) {
  for (uint64_t i = 0; i < 4; ++i) {
    ShownFrame frame = Shown(i);
    frame.pts = 0;
    matcher_.Show(frame);
  }
  for (uint64_t i = 0; i < 4; ++i) {
    matcher_.Decoded({.pts = 0, .hash = 1000 + i});
  }
  Expect(4, 0, 0);
}

TEST_F(FrameMatcherTest, WhatWaitsIsBounded) {
  Show(0, FrameMatcher::kMostWaiting + 5);
  Expect(0, 0, 5);
  matcher_.NotSent(2);
  matcher_.GiveUp();
  Expect(0, 0, FrameMatcher::kMostWaiting + 7);
}

}  // namespace
}  // namespace bulkhead::shadow
