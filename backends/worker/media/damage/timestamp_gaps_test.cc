// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/damage/timestamp_gaps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::worker::damage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Returns the timestamps after gaps, of packets in decoding order.
std::vector<int64_t> GapsOf(const std::vector<int64_t>& sent,
                            size_t reordered = 0) {
  TimestampGaps gaps(reordered);
  std::vector<int64_t> found;
  for (const int64_t pts : sent) {
    if (const auto behind = gaps.Sent({pts, pts / 2})) {
      EXPECT_EQ(behind->position, behind->pts / 2);
      found.push_back(behind->pts);
    }
  }
  while (const auto behind = gaps.Ended()) found.push_back(behind->pts);
  return found;
}

// Returns the times of so many pictures, without `missing`.
std::vector<int64_t> Times(int64_t pictures, std::set<int64_t> missing,
                           int64_t step = 10) {
  std::vector<int64_t> times;
  for (int64_t i = 0; i < pictures; ++i) {
    if (!missing.contains(i)) times.push_back(i * step);
  }
  return times;
}

TEST(TimestampGaps, AMissingPictureIsAGap) {
  EXPECT_THAT(GapsOf(Times(30, {})), IsEmpty());
  EXPECT_THAT(GapsOf(Times(30, {10})), ElementsAre(110));
  EXPECT_THAT(GapsOf(Times(30, {10, 20, 21})), ElementsAre(110, 220));
  EXPECT_THAT(GapsOf(Times(11, {9})), IsEmpty()) << "nine have to be regular";
  EXPECT_THAT(GapsOf(Times(12, {10})), ElementsAre(110));
}

TEST(TimestampGaps, AGapAtTheBeginningIsFoundLater) {
  EXPECT_THAT(GapsOf(Times(12, {1})), ElementsAre(20));
  EXPECT_THAT(GapsOf(Times(11, {1})), IsEmpty());
}

TEST(TimestampGaps, TicksMayBeAsLongAsPictures) {
  EXPECT_THAT(GapsOf(Times(20, {10}, 1)), ElementsAre(11));
  // 25 in a second, in ticks of 30.
  std::vector<int64_t> rounded;
  for (int64_t i = 0; i < 100; ++i) rounded.push_back(i * 30 / 25);
  EXPECT_THAT(GapsOf(rounded), IsEmpty());
}

TEST(TimestampGaps, PicturesAreInAnotherOrderThanPackets) {
  std::vector<int64_t> sent = {0};
  for (int64_t i = 0; i < 40; i += 3) {
    for (const int64_t pts : {i + 3, i + 1, i + 2}) sent.push_back(pts * 10);
  }
  EXPECT_THAT(GapsOf(sent, 2), IsEmpty());
  std::erase(sent, 200);
  EXPECT_THAT(GapsOf(sent, 2), ElementsAre(210));
}

TEST(TimestampGaps, RoundedTimesHaveNone) {
  std::vector<int64_t> times;
  for (int64_t i = 0; i < 30; ++i) times.push_back(i * 1000 / 30);
  EXPECT_THAT(GapsOf(times), IsEmpty());
  times.erase(times.begin() + 15);
  EXPECT_THAT(GapsOf(times), ElementsAre(533));
}

TEST(TimestampGaps, StreamsOfVariableRateHaveNone) {
  EXPECT_THAT(GapsOf(Times(60, {3, 9, 10, 14, 22, 30, 31, 38, 44, 50})),
              IsEmpty());
  // Pictures that are shown for two and three fields in turn.
  std::vector<int64_t> fields;
  for (int64_t i = 0; i < 30; ++i) fields.push_back(i * 25 + i % 2 * -5);
  EXPECT_THAT(GapsOf(fields), IsEmpty());
  // Every third picture is missing.
  std::set<int64_t> thirds;
  for (int64_t i = 2; i < 60; i += 3) thirds.insert(i);
  EXPECT_THAT(GapsOf(Times(60, thirds)), IsEmpty());
  // A rate that becomes lower by less than half.
  std::vector<int64_t> slower = Times(20, {});
  for (int64_t i = 1; i < 20; ++i) slower.push_back(190 + i * 15);
  EXPECT_THAT(GapsOf(slower), IsEmpty());
}

TEST(TimestampGaps, NothingIsCountedAcrossASeekOrWithoutTimestamps) {
  TimestampGaps gaps(0);
  for (int64_t pts = 0; pts <= 200; pts += 10) {
    EXPECT_FALSE(gaps.Sent({pts, 0}));
  }
  TimestampGaps untimed = gaps;
  gaps.Restart();
  EXPECT_FALSE(gaps.Sent({500, 0}));
  EXPECT_FALSE(untimed.Sent({BULKHEAD_NO_TIMESTAMP, 0}));
  EXPECT_FALSE(untimed.Sent({500, 0}));
}

TEST(TimestampGaps, HostileTimesAreHarmless) {
  std::vector<int64_t> times = Times(12, {});
  times.insert(times.end(), {INT64_MAX, INT64_MIN + 1, 0, 0, -5});
  EXPECT_THAT(GapsOf(times), ElementsAre(INT64_MAX));
}

}  // namespace
}  // namespace bulkhead::worker::damage
