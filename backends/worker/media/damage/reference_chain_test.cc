// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/damage/reference_chain.h"

#include <gtest/gtest.h>

#include <string>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::worker::damage {
namespace {

class ReferenceChainTest : public testing::Test {
 protected:
  // Sends one packet for each letter, with the timestamps in `times`: K is a
  // keyframe, P a picture that others refer to, B one that nothing refers to, H
  // a hidden one, R the beginning of a refresh that takes two more pictures.
  void Send(const std::string& kinds, std::initializer_list<int64_t> times) {
    const int64_t* pts = times.begin();
    for (const char kind : kinds) {
      PacketRole role;
      role.entry = role.keyframe = kind == 'K';
      role.b_picture = kind == 'B';
      role.referred = !role.b_picture;
      role.refresh = kind == 'R' ? 2 : 0;
      chain_.Sent(role, *pts++, kind != 'H');
    }
  }
  std::string BrokenOf(std::initializer_list<int64_t> times) {
    std::string text;
    for (const int64_t pts : times) text += chain_.Broken(pts) ? 'x' : '.';
    return text;
  }

  ReferenceChain chain_;
};

TEST_F(ReferenceChainTest, ALossBreaksWhatFollowsUpToTheNextEntry) {
  Send("KPPPKP", {0, 1, 2, 3, 4, 5});
  chain_.Lost(2);
  EXPECT_EQ(BrokenOf({0, 1, 3, 4, 5}), "..x..");
}

TEST_F(ReferenceChainTest, WhatNothingRefersToBreaksNothing) {
  Send("KPBP", {0, 2, 1, 3});
  chain_.Lost(1);
  EXPECT_EQ(BrokenOf({0, 2, 3}), "...");
}

TEST_F(ReferenceChainTest, ABPictureThatIsShownInTurnIsNone) {
  Send("KPBPK", {0, 1, 2, 3, 4});
  chain_.Lost(2);
  EXPECT_EQ(BrokenOf({0, 1, 3, 4}), "..x.");
  chain_.Restart();
  Send("KBPK", {5, 6, 7, 8});
  chain_.Lost(6);
  EXPECT_EQ(BrokenOf({5, 7, 8}), ".x.") << "not before the keyframe";
}

TEST_F(ReferenceChainTest, AHeaderAloneDoesNotTellThatNothingRefersToALoss) {
  Send("KP", {0, 3});
  PacketRole role;
  role.referred = false;
  chain_.Sent(role, 1, true);
  Send("PK", {2, 6});
  chain_.Sent(role, 7, true);
  Send("P", {8});
  role.disposable = true;
  chain_.Sent(role, 9, true);
  Send("P", {10});
  chain_.Lost(1);
  EXPECT_EQ(BrokenOf({0, 3, 2, 6, 7, 8}), "..x...");
  chain_.Lost(9);
  EXPECT_EQ(BrokenOf({8, 10}), "..") << "the container says it too";
  chain_.Lost(7);
  EXPECT_EQ(BrokenOf({6, 8, 10}), ".xx");
}

TEST_F(ReferenceChainTest, AnEntryThatIsLostIsReferredToWhateverItSays) {
  Send("KPP", {0, 1, 2});
  PacketRole garbage;
  garbage.entry = garbage.closed = true;
  garbage.referred = false;
  chain_.Sent(garbage, 3, true);
  Send("PKP", {4, 5, 6});
  chain_.Rejected();
  EXPECT_FALSE(chain_.Settled(4));
  chain_.Lost(3);
  EXPECT_EQ(BrokenOf({0, 1, 2, 4, 5, 6}), "...x..");
}

TEST_F(ReferenceChainTest, PicturesThatLeadTheNextEntryAreBrokenToo) {
  Send("KPKBBP", {0, 1, 4, 2, 3, 5});
  chain_.Shown(1, false, true);
  EXPECT_EQ(BrokenOf({2, 3, 4, 5}), "xx..");
}

TEST_F(ReferenceChainTest, ADamagedLeadingPictureBreaksOnlyLeadingOnes) {
  Send("KPKPBP", {0, 1, 4, 3, 2, 5});
  chain_.Lost(3);
  EXPECT_EQ(BrokenOf({2, 4, 5}), "x..");
}

// As where a stream was cut at an open group of pictures.
TEST_F(ReferenceChainTest, ALostLeadingPictureBreaksNoLaterGroup) {
  Send("KPBPKPB", {4, 3, 2, 5, 8, 7, 6});
  chain_.Lost(3);
  EXPECT_EQ(BrokenOf({2, 4, 5, 6, 7, 8}), "x.....");
}

TEST_F(ReferenceChainTest, BeforeTheFirstKeyframeOnlyTheDecoderKnows) {
  Send("PPPK", {0, 1, 2, 3});
  chain_.Lost(0);
  EXPECT_EQ(BrokenOf({1, 2, 3}), "...");
}

TEST_F(ReferenceChainTest, AnErrorHoldsBackWhatMayReferToIt) {
  Send("KPBP", {0, 2, 1, 3});
  EXPECT_TRUE(chain_.Settled(1)) << "no error";
  chain_.Doubt();
  chain_.Shown(0, true, false);
  EXPECT_TRUE(chain_.Settled(0));
  EXPECT_FALSE(chain_.Settled(1)) << "2 is shown later";
  chain_.Shown(1, false, false);
  chain_.Shown(2, false, true);
  EXPECT_TRUE(chain_.Settled(1));
  EXPECT_EQ(BrokenOf({1, 3}), "xx");
}

TEST_F(ReferenceChainTest, AHiddenPacketThatIsRejectedBreaksTheChain) {
  Send("KPH", {0, 1, 2});
  chain_.Shown(0, true, false);
  chain_.Shown(1, false, false);
  chain_.Rejected();
  Send("P", {3});
  EXPECT_EQ(BrokenOf({1, 3}), ".x");
}

TEST_F(ReferenceChainTest, ARefreshIsAnEntryOnceItIsComplete) {
  Send("KPRPPP", {0, 1, 2, 3, 4, 5});
  chain_.Lost(1);
  EXPECT_EQ(BrokenOf({2, 3, 4, 5}), "xx..");
  chain_.Restart();
  Send("KPRPPP", {0, 1, 2, 3, 4, 5});
  chain_.Lost(3);
  EXPECT_EQ(BrokenOf({2, 4, 5}), ".xx") << "broken while it went on";
}

TEST_F(ReferenceChainTest, ARefreshThatIsBrokenIsNoEntry) {
  Send("KRP", {0, 1, 2});
  chain_.Lost(2);
  Send("PP", {3, 4});
  EXPECT_EQ(BrokenOf({1, 3, 4}), ".xx");
  chain_.Restart();
  Send("KR", {0, 1});
  chain_.Lost(1);
  Send("PPP", {2, 3, 4});
  EXPECT_EQ(BrokenOf({1, 2, 3, 4}), ".xxx");
}

// The entry that the refresh made is none any more, but what is lost after it
// stays lost.
TEST_F(ReferenceChainTest, ABrokenRefreshKeepsTheLossesBehindIt) {
  Send("KRPPPP", {5, 6, 4, 7, 8, 9});
  chain_.Lost(8);
  chain_.Lost(4);
  EXPECT_EQ(BrokenOf({5, 7, 9}), "..x");
}

TEST_F(ReferenceChainTest, OnlyPicturesThatOthersReferToCompleteARefresh) {
  Send("KPR", {0, 1, 2});
  chain_.Lost(1);
  PacketRole disposable;
  disposable.disposable = true;
  for (const int64_t pts : {3, 4}) chain_.Sent(disposable, pts, true);
  Send("PPP", {5, 6, 7});
  EXPECT_EQ(BrokenOf({2, 3, 4, 5, 6, 7}), "xxxx..");
}

TEST_F(ReferenceChainTest, APictureIsReferredToIfItsSecondFieldIs) {
  Send("KPB", {0, 4, 2});
  PacketRole field;
  field.second_field = true;
  chain_.Sent(field, 2, false);
  Send("B", {1});
  chain_.Lost(2);
  EXPECT_EQ(BrokenOf({0, 4, 1}), "..x");
}

TEST_F(ReferenceChainTest, AnErrorInASecondFieldDamagesThePicture) {
  Send("K", {0});
  PacketRole field;
  field.second_field = true;
  chain_.Sent(field, 0, false);
  chain_.Rejected();
  Send("P", {1});
  EXPECT_EQ(BrokenOf({0, 1}), "xx");
}

TEST_F(ReferenceChainTest, WhatLeadsAnEntryMayReferToNothingBeforeIt) {
  Send("KPKB", {0, 1, 5, 3});
  PacketRole radl;
  radl.alone = true;
  chain_.Sent(radl, 4, true);
  chain_.Doubt();
  for (const int64_t pts : {0, 5}) chain_.Shown(pts, true, false);
  EXPECT_TRUE(chain_.Settled(4));
  EXPECT_FALSE(chain_.Settled(3));
  chain_.Lost(1);
  EXPECT_EQ(BrokenOf({4, 3}), ".x");
}

TEST_F(ReferenceChainTest, NothingBehindAClosedEntryRefersToWhatIsBeforeIt) {
  Send("KP", {0, 1});
  PacketRole entry;
  entry.entry = entry.closed = entry.keyframe = true;
  chain_.Sent(entry, 5, true);
  Send("B", {4});
  chain_.Lost(1);
  EXPECT_EQ(BrokenOf({5, 4}), "..");
}

TEST_F(ReferenceChainTest, AnErrorConcernsNoHiddenPacketBeforeAShownPicture) {
  Send("KPHB", {0, 3, 9, 2});
  for (const int64_t pts : {0, 2, 3}) chain_.Shown(pts, pts == 0, false);
  chain_.Rejected();
  Send("P", {4});
  EXPECT_EQ(BrokenOf({4}), ".");
}

TEST_F(ReferenceChainTest, APictureThatIsOutIsNotLost) {
  Send("KPP", {0, 1, 2});
  chain_.Shown(1, false, false);
  chain_.Lost(1);
  EXPECT_EQ(BrokenOf({0, 1, 2}), "...");
}

// The packets of the first group are forgotten, but not that it is broken: what
// leads the second entry may refer to it.
TEST_F(ReferenceChainTest, TheGroupBeforeTheOldestPacketIsRemembered) {
  Send("K", {0});
  chain_.Lost(0);
  for (int64_t pts = 1; pts < 100; ++pts) Send("P", {pts});
  Send("K", {200});
  for (int64_t pts = 201; pts < 4'295; ++pts) Send("P", {pts});
  Send("B", {150});
  EXPECT_EQ(BrokenOf({150, 4'294}), "x.");
}

TEST_F(ReferenceChainTest, WhatIsLongPastIsForgotten) {
  Send("KP", {0, 1});
  chain_.Lost(0);
  EXPECT_EQ(BrokenOf({1}), "x");
  for (int64_t pts = 2; pts < 5'000; ++pts) Send("P", {pts});
  EXPECT_EQ(BrokenOf({1, 4'999}), ".x");
}

TEST_F(ReferenceChainTest, WithoutTimestampsABreakLastsUntilALaterKeyframe) {
  constexpr int64_t kNone = BULKHEAD_NO_TIMESTAMP;
  chain_.OnlyCount();
  Send("KPP", {kNone, kNone, kNone});
  chain_.Shown(kNone, true, false);
  EXPECT_FALSE(chain_.Broken(kNone));
  chain_.Rejected();
  Send("PK", {kNone, kNone});
  chain_.Shown(kNone, false, false);
  EXPECT_TRUE(chain_.Broken(kNone));
  chain_.Shown(kNone, false, false);
  chain_.Shown(kNone, true, false);
  EXPECT_FALSE(chain_.Broken(kNone));
}

// An MPEG-2 keyframe whose B-pictures come out first, and more of them because
// the next P-picture is lost.
TEST_F(ReferenceChainTest, AKeyframeSentBeforeTheBreakDoesNotEndIt) {
  Send("KPKBB", {0, 3, 6, 4, 5});
  chain_.OnlyCount();
  chain_.Shown(0, true, false);
  chain_.Shown(3, false, false);
  chain_.Rejected();
  Send("BBPK", {7, 8, 12, 15});
  for (const int64_t pts : {4, 5, 7, 8}) chain_.Shown(pts, false, false);
  chain_.Shown(9, true, false);  // picture 6, with a guessed timestamp
  EXPECT_TRUE(chain_.Broken(9));
  chain_.Shown(12, false, false);
  chain_.Shown(15, true, false);
  EXPECT_FALSE(chain_.Broken(15));
}

// The damaged P-picture comes out after two B-pictures that refer to it.
TEST_F(ReferenceChainTest, WithoutTimestampsPicturesWaitForADamagedOne) {
  constexpr int64_t kNone = BULKHEAD_NO_TIMESTAMP;
  chain_.OnlyCount();
  Send("KPBB", {kNone, kNone, kNone, kNone});
  chain_.Shown(kNone, true, false);
  EXPECT_TRUE(chain_.Settled(kNone)) << "no error yet";
  chain_.Doubt();
  for (int i = 0; i < 2; ++i) {
    chain_.Shown(kNone, false, false);
    EXPECT_FALSE(chain_.Settled(kNone));
  }
  chain_.Shown(kNone, false, true);
  EXPECT_TRUE(chain_.Settled(kNone));
  EXPECT_TRUE(chain_.Broken(kNone));
}

TEST_F(ReferenceChainTest, WithoutTimestampsAnErrorMayConcernNoPicture) {
  constexpr int64_t kNone = BULKHEAD_NO_TIMESTAMP;
  chain_.OnlyCount();
  Send("KP", {kNone, kNone});
  chain_.Shown(kNone, true, false);
  chain_.Doubt();
  int waits = 0;
  for (; !chain_.Settled(kNone) && waits < 32; ++waits) {
    Send("P", {kNone});
    chain_.Shown(kNone, false, false);
  }
  EXPECT_GE(waits, 16) << "a damaged picture may still be on its way";
  EXPECT_LT(waits, 32);
  EXPECT_FALSE(chain_.Broken(kNone));
}

}  // namespace
}  // namespace bulkhead::worker::damage
