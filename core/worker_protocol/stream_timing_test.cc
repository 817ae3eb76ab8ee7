// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/stream_timing.h"

#include <gtest/gtest.h>

namespace bulkhead::worker_protocol {
namespace {

StreamTiming Best(StreamTiming timing, std::optional<double> fps,
                  std::optional<double> container_seconds) {
  ChooseBest(timing, fps, container_seconds);
  return timing;
}

TEST(StreamTiming, ContentIsBelievedBeforeTheHeader) {
  const StreamTiming best = Best({.begin_seconds_from_header = 1,
                                  .duration_seconds_from_header = 100,
                                  .frame_count_from_header = 7,
                                  .begin_seconds_from_content = 2,
                                  .end_seconds_from_content = 6,
                                  .frame_count_from_content = 40},
                                 25, 200);
  EXPECT_EQ(best.begin_seconds, 2);
  EXPECT_EQ(best.end_seconds, 6);
  EXPECT_EQ(best.duration_seconds, 4);
  EXPECT_EQ(best.frame_count, 40u);
  EXPECT_EQ(best.average_fps, 10);
}

TEST(StreamTiming, TheStreamIsBelievedBeforeTheContainer) {
  const StreamTiming best = Best({.begin_seconds_from_header = 1,
                                  .duration_seconds_from_header = 4,
                                  .frame_count_from_header = 7},
                                 25, 200);
  EXPECT_EQ(best.begin_seconds, 1);
  EXPECT_EQ(best.duration_seconds, 4);
  EXPECT_EQ(best.end_seconds, 5);
  EXPECT_EQ(best.frame_count, 7u);
  EXPECT_EQ(best.average_fps, 25);
}

TEST(StreamTiming, FramesAndTheirRateMakeADuration) {
  EXPECT_EQ(Best({.frame_count_from_header = 50}, 25, 200).duration_seconds, 2);
}

TEST(StreamTiming, TheContainersDurationIsTheLastResort) {
  const StreamTiming best = Best({.frame_count_from_header = 50}, {}, 200);
  EXPECT_EQ(best.duration_seconds, 200);
  EXPECT_EQ(best.frame_count, 50u);
}

TEST(StreamTiming, DurationAndRateMakeACount) {
  EXPECT_EQ(Best({.duration_seconds_from_header = 2.99}, 25, {}).frame_count,
            74u);
  EXPECT_EQ(Best({.duration_seconds_from_header = 1e300}, 25, {}).frame_count,
            std::nullopt);
  EXPECT_EQ(Best({.duration_seconds_from_header = -1}, 25, {}).frame_count,
            std::nullopt);
}

TEST(StreamTiming, AGuessedRateStandsInForTheAverage) {
  EXPECT_EQ(FrameRate({25, 1}, {50, 1}), 25);
  EXPECT_EQ(FrameRate({0, 1}, {50, 1}), 50);
  EXPECT_EQ(FrameRate({}, {}), std::nullopt);
}

TEST(StreamTiming, TimesMayBeNegativeAndDurationsNot) {
  EXPECT_EQ(SecondsIfTold(-3, {1, 2}), -1.5);
  EXPECT_EQ(SecondsIfTold(3, {1, 30}), 0.1);
  EXPECT_EQ(SecondsIfTold(INT64_MIN, {1, 2}), std::nullopt);
  EXPECT_EQ(SecondsIfTold(3, {}), std::nullopt);
  EXPECT_EQ(DurationIfTold(3, {1, 2}), 1.5);
  for (const int64_t none : {int64_t{0}, int64_t{-3}, INT64_MIN}) {
    EXPECT_EQ(DurationIfTold(none, {1, 2}), std::nullopt);
  }
}

TEST(StreamTiming, WhatNothingTellsIsUnknown) {
  const StreamTiming best = Best({}, {}, {});
  EXPECT_EQ(best.begin_seconds, 0);
  EXPECT_EQ(best.end_seconds, std::nullopt);
  EXPECT_EQ(best.duration_seconds, std::nullopt);
  EXPECT_EQ(best.frame_count, std::nullopt);
  EXPECT_EQ(best.average_fps, std::nullopt);
}

}  // namespace
}  // namespace bulkhead::worker_protocol
