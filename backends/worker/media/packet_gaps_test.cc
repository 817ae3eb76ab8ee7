// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/packet_gaps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <random>

namespace bulkhead::worker {
namespace {

constexpr int64_t kDuration = 40;

StreamFacts Facts(const std::string& container, int32_t video_delay) {
  StreamFacts facts;
  facts.container = container;
  facts.time_base = {1, 1000};
  facts.average_frame_rate = {25, 1};
  facts.stream_count = 1;
  facts.video_delay = video_delay;
  return facts;
}

bulkhead_packet Packet(int64_t pts, int64_t position) {
  bulkhead_packet packet{};
  packet.pts = pts;
  packet.duration = kDuration;
  packet.bytes = 100;
  packet.position = position;
  return packet;
}

// Sends packets with these frame numbers, in this order, and then shows them in
// the order of presentation. Bytes are lost before the packet `lost_before`.
std::vector<PacketGap> GapsOf(PacketGaps& gaps,
                              std::initializer_list<int64_t> sent,
                              int64_t lost_before) {
  for (const int64_t frame : sent) {
    const auto packet = Packet(frame * kDuration, 1000 + frame * 100);
    if (frame == lost_before) {
      gaps.SentBehindLoss(packet, 900, std::nullopt);
    } else {
      gaps.Sent(packet);
    }
  }
  std::vector<int64_t> shown = sent;
  std::sort(shown.begin(), shown.end());
  std::vector<PacketGap> found;
  for (const int64_t frame : shown) {
    for (const PacketGap& gap : gaps.Shown(frame * kDuration, kDuration)) {
      found.push_back(gap);
    }
  }
  return found;
}

TEST(PacketGaps, AHoleBesideLostBytesIsAGap) {
  PacketGaps gaps(Facts("matroska,webm", 0));
  const auto found = GapsOf(gaps, {0, 1, 5, 6, 9}, 5);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pts, 2 * kDuration);
  EXPECT_EQ(found[0].duration, 3 * kDuration);
  EXPECT_EQ(found[0].packets, 3u);
  EXPECT_EQ(found[0].first_byte, 900);
  EXPECT_EQ(found[0].end_byte, 1500);
}

TEST(PacketGaps, AHoleAloneIsNone) {
  PacketGaps gaps(Facts("matroska,webm", 0));
  EXPECT_TRUE(GapsOf(gaps, {0, 1, 5, 6, 90}, -1).empty());
  // Neither are lost bytes without a hole: they were another stream's.
  PacketGaps other(Facts("matroska,webm", 0));
  EXPECT_TRUE(GapsOf(other, {0, 1, 2, 3, 40, 41, 42, 90}, 2).empty());
}

TEST(PacketGaps, HolesAreThoseOfTheOrderOfPresentation) {
  PacketGaps whole(Facts("matroska,webm", 2));
  EXPECT_TRUE(GapsOf(whole, {0, 4, 2, 1, 3, 8, 6, 5, 7}, 8).empty());
  // The B-frames between 0 and 4 are lost.
  PacketGaps gaps(Facts("matroska,webm", 2));
  const auto found = GapsOf(gaps, {0, 4, 8, 6, 5, 7}, 8);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pts, kDuration);
  EXPECT_EQ(found[0].packets, 3u);
}

TEST(PacketGaps, TheFirstFramesAreLostToo) {
  PacketGaps gaps(Facts("matroska,webm", 0));
  const auto found = GapsOf(gaps, {3, 4, 5}, 3);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pts, 0);
  EXPECT_EQ(found[0].packets, 3u);
  PacketGaps late(Facts("matroska,webm", 0));
  EXPECT_TRUE(GapsOf(late, {3, 4, 5}, -1).empty());
}

// Returns the gap before the last packet of an AVI that lists so many there.
std::vector<PacketGap> GapsOfAvi(std::optional<uint64_t> listed) {
  PacketGaps gaps(Facts("avi", 0));
  for (int64_t frame = 0; frame < 4; ++frame) {
    gaps.Sent(Packet(frame * kDuration, 100 * frame));
  }
  gaps.SentBehindLoss(Packet(4 * kDuration, 1000), 400, listed);
  std::vector<PacketGap> found;
  for (int64_t frame = 0; frame < 5; ++frame) {
    for (const auto& gap : gaps.Shown(frame * kDuration, kDuration)) {
      EXPECT_EQ(frame, 4);
      found.push_back(gap);
    }
  }
  return found;
}

TEST(PacketGaps, AviCountsWhatItsIndexListsOrElseLostBytes) {
  for (const uint64_t listed : {0, 3}) {
    const auto found =
        GapsOfAvi(listed > 0 ? std::make_optional(listed) : std::nullopt);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].packets, listed == 0 ? 6u : 3u);
  }
  EXPECT_TRUE(GapsOfAvi(0).empty());
}

// The header of AVI counts chunks that have no bytes too.
TEST(PacketGaps, EmptyChunksOfAviAreNotLost) {
  StreamFacts facts = Facts("avi", 0);
  facts.frame_count = 300;
  facts.time_base = {1, 50};
  for (const bool counts_empty : {false, true}) {
    facts.counts_empty_chunks = counts_empty;
    PacketGaps gaps(facts);
    for (int64_t frame = 0; frame < 33; ++frame) {
      gaps.Sent(Packet(frame * 2, 100 * frame));
    }
    const auto gap = gaps.LostAtEnd(10000, 0);
    ASSERT_TRUE(gap);
    EXPECT_EQ(gap->packets, counts_empty ? 117u : 267u);
  }
}

TEST(PacketGaps, TheHeaderTellsWhatIsMissingAtTheEnd) {
  StreamFacts facts = Facts("matroska,webm", 0);
  facts.duration = 10 * kDuration;
  PacketGaps gaps(facts);
  EXPECT_TRUE(GapsOf(gaps, {0, 1, 2, 3}, -1).empty());
  const auto gap = gaps.LostAtEnd(100'000, 0);
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->packets, 6u);
  EXPECT_EQ(gap->pts, 4 * kDuration);
  // Everything came; what is cut off is an index.
  GapsOf(gaps, {4, 5, 6, 7, 8, 9}, -1);
  EXPECT_FALSE(gaps.LostAtEnd(100'000, 0));
}

TEST(PacketGaps, AnyNumbersGiveBoundedGaps) {
  std::mt19937_64 random(1);  // NOLINT: the same every time
  for (const char* container : {"matroska,webm", "ogg", "avi", "mpegts"}) {
    StreamFacts facts = Facts(container, INT32_MAX);
    facts.duration = INT64_MAX;
    facts.start = INT64_MAX;
    facts.average_frame_rate = {INT32_MAX, 1};
    PacketGaps gaps(facts);
    for (int i = 0; i < 20'000; ++i) {
      const auto any = [&] {
        return static_cast<int64_t>(random()) >> (random() % 64);
      };
      bulkhead_packet packet = Packet(any(), any());
      packet.bytes = static_cast<size_t>(any());
      packet.duration = any();
      gaps.SentBehindLoss(packet, any(), random());
      const auto found = gaps.Shown(any(), any());
      ASSERT_LE(found.size(), 64u);
      for (const auto& gap : found) {
        ASSERT_GE(gap.packets, 1u);
        ASSERT_LE(gap.packets, 1'000'000u);
      }
      const auto end = gaps.LostAtEnd(any(), 0);
      ASSERT_TRUE(!end || end->packets <= 1'000'000u);
    }
  }
}

}  // namespace
}  // namespace bulkhead::worker
