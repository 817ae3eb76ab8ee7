// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/damage/outstanding_packets.h"

#include <gtest/gtest.h>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::worker::damage {
namespace {

class OutstandingPacketsTest : public testing::Test {
 protected:
  void Send(std::initializer_list<int64_t> timestamps) {
    for (const int64_t pts : timestamps) packets_.Sent(pts, 1, 100 + pts);
  }
  std::vector<int64_t> Show(int64_t pts) {
    const auto shown = packets_.Shown(pts);
    position_ = shown.position;
    origin_ = shown.origin;
    return Timestamps(shown.losses);
  }
  static std::vector<int64_t> Timestamps(const std::vector<Loss>& losses) {
    std::vector<int64_t> timestamps;
    for (const Loss& loss : losses) timestamps.push_back(loss.pts);
    return timestamps;
  }

  OutstandingPackets packets_;
  int64_t position_ = 0;
  OutstandingPackets::Origin origin_{};
};

using Times = std::vector<int64_t>;

TEST_F(OutstandingPacketsTest, ReorderedPicturesAreNoLoss) {
  Send({0, 3, 1, 2});
  for (const int64_t pts : {0, 1, 2, 3}) EXPECT_EQ(Show(pts), Times{});
  EXPECT_EQ(position_, 103);
  EXPECT_TRUE(packets_.Ended().empty());
}

TEST_F(OutstandingPacketsTest, WhatALaterPicturePassesIsLost) {
  Send({0, 1, 2, 3, 4});
  EXPECT_EQ(Show(0), Times{});
  EXPECT_EQ(Show(3), (Times{1, 2}));
  EXPECT_EQ(Timestamps(packets_.Ended()), Times{4});
}

TEST_F(OutstandingPacketsTest, WhatTheDecoderDropsIsNoLoss) {
  Send({0, 3, 1, 2});
  for (const int64_t pts : {0, 1, 2}) EXPECT_EQ(Show(pts), Times{});
  packets_.Dropped(3);
  Send({4});
  EXPECT_EQ(Show(4), Times{});
  EXPECT_TRUE(packets_.Ended().empty());
  packets_.OnlyCount();
  Send({5, 6});
  packets_.Dropped(6);
  Show(5);
  EXPECT_TRUE(packets_.Ended().empty());
}

TEST_F(OutstandingPacketsTest, LeadingPicturesOfASeekAreNoLoss) {
  packets_.Restart(10);
  Send({10, 8, 9, 11});
  EXPECT_EQ(Show(8), Times{});
  EXPECT_EQ(Show(10), Times{});
  EXPECT_EQ(Show(11), Times{});
}

TEST_F(OutstandingPacketsTest, AGuessedTimestampBehindDamageIsTooLate) {
  using Origin = OutstandingPackets::Origin;
  Send({0, 10, 20, 30, 40});
  EXPECT_EQ(Show(0), Times{});
  EXPECT_EQ(Show(30), (Times{10, 20}));
  Show(15);
  EXPECT_EQ(origin_, Origin::kTooLate);
  // The guess may belong to a packet whose own picture is still to come.
  Send({25});
  Show(25);
  EXPECT_EQ(origin_, Origin::kTooLate);
  EXPECT_EQ(Show(40), Times{25});
  Show(45);
  EXPECT_EQ(origin_, Origin::kNone);
}

TEST_F(OutstandingPacketsTest, WithoutTimestampsOnlyTheNumberIsTold) {
  Send({0, BULKHEAD_NO_TIMESTAMP, 2});
  EXPECT_EQ(Show(2), Times{});
  const auto losses = packets_.Ended();
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].pts, BULKHEAD_NO_TIMESTAMP);
  EXPECT_EQ(losses[0].packets, 2u);
  EXPECT_EQ(losses[0].position, 100) << "somewhere between these";
  EXPECT_EQ(losses[0].end_position, 103);
}

TEST_F(OutstandingPacketsTest, AnotherPictureOfAPacketIsTooLate) {
  using Origin = OutstandingPackets::Origin;
  Send({0, 1, 2});
  EXPECT_EQ(Show(0), Times{});
  EXPECT_EQ(origin_, Origin::kPacket);
  EXPECT_EQ(Show(0), Times{});
  EXPECT_EQ(origin_, Origin::kTooLate);
  EXPECT_EQ(Show(2), Times{1});
  EXPECT_FALSE(packets_.IsLost(2));
  EXPECT_TRUE(packets_.IsLost(1));
  EXPECT_EQ(Show(1), Times{});
  EXPECT_EQ(origin_, Origin::kLost);
  EXPECT_TRUE(packets_.Ended().empty());
}

TEST_F(OutstandingPacketsTest, APictureOfADiscardedPacketIsTold) {
  using Origin = OutstandingPackets::Origin;
  packets_.SentWithout(-2, true);
  packets_.SentWithout(-1, false);
  Send({0});
  Show(-2);
  EXPECT_EQ(origin_, Origin::kDiscarded);
  Show(0);
  EXPECT_EQ(origin_, Origin::kPacket);
  EXPECT_TRUE(packets_.Ended().empty());
  // A packet of which no picture was expected has one.
  Show(-1);
  EXPECT_EQ(origin_, Origin::kPacket);
}

TEST_F(OutstandingPacketsTest, AnAwaitedPictureMayHaveTheTimeOfADiscardedOne) {
  using Origin = OutstandingPackets::Origin;
  Send({0});
  packets_.SentWithout(1, true);
  Show(0);
  packets_.OnlyCount();
  Send({1, 2});
  packets_.SentWithout(2, true);
  for (const int64_t pts : {1, 2}) {
    Show(pts);
    EXPECT_EQ(origin_, Origin::kPacket);
  }
  Show(2);
  EXPECT_EQ(origin_, Origin::kDiscarded);
  EXPECT_TRUE(packets_.Ended().empty());
}

TEST_F(OutstandingPacketsTest, ForgottenPacketsAreNotHeldAgainstAPicture) {
  using Origin = OutstandingPackets::Origin;
  for (int64_t pts = 0; pts < 10'000; ++pts) {
    Send({pts});
    EXPECT_EQ(Show(pts), Times{});
  }
  Show(5);
  EXPECT_EQ(origin_, Origin::kPacket);
  packets_.Restart(INT64_MIN);
  Send({0});
  Show(5);
  EXPECT_EQ(origin_, Origin::kNone);
}

TEST_F(OutstandingPacketsTest, APictureThatNoPacketAnnouncedEndsTheOrder) {
  Send({0, 1});
  EXPECT_EQ(Show(7), Times{});
  EXPECT_EQ(origin_, OutstandingPackets::Origin::kNone);
  const auto losses = packets_.Ended();
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].packets, 1u);
}

}  // namespace
}  // namespace bulkhead::worker::damage
