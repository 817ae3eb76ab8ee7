// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/sample_damage_log.h"

#include <gtest/gtest.h>

namespace bulkhead::session {
namespace {

TEST(SampleDamageLog, RunsThatTouchAreOneAndCountOnce) {
  SampleDamageLog log;
  log.Add({.first = 100, .count = 50, .first_byte = 7, .last_byte = 9});
  log.Add({.first = 300, .count = 10});
  log.Add({.first = 150, .count = 25, .first_byte = 12, .last_byte = 12});
  log.Add({.first = 100, .count = 50, .first_byte = 7, .last_byte = 9});
  const auto ranges = log.Ranges(2, 100);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].first_sample, 100u);
  EXPECT_EQ(ranges[0].samples, 75u);
  EXPECT_EQ(ranges[0].begin_seconds, 3);
  EXPECT_EQ(ranges[0].end_seconds, 3.75);
  EXPECT_EQ(ranges[0].first_byte, 7);
  EXPECT_EQ(ranges[0].last_byte, 12);
  EXPECT_EQ(ranges[1].samples, 10u);
  EXPECT_FALSE(ranges[1].first_byte || ranges[1].last_byte);
}

TEST(SampleDamageLog, FindsTheFirstRunOfARange) {
  SampleDamageLog log;
  log.Add({.first = 100, .count = 50});
  log.Add({.first = 300, .count = 10});
  EXPECT_FALSE(log.FirstIn(0, 100));
  EXPECT_EQ(log.FirstIn(0, 101)->first, 100);
  EXPECT_EQ(log.FirstIn(149, 150)->first, 100);
  EXPECT_FALSE(log.FirstIn(150, 300));
  EXPECT_EQ(log.FirstIn(150, 301)->first, 300);
  EXPECT_FALSE(log.FirstIn(310, INT64_MAX));
}

TEST(SampleDamageLog, IsBoundedAndForgetsNothing) {
  SampleDamageLog log;
  constexpr int64_t kRuns = 3 * SampleDamageLog::kMostRanges;
  for (int64_t i = kRuns; i-- > 0;) log.Add({.first = 10 * i, .count = 1});
  for (int64_t i = 0; i < kRuns; ++i) {
    ASSERT_TRUE(log.FirstIn(10 * i, 10 * i + 1)) << i;
  }
  EXPECT_LE(log.Ranges(0, 1).size(), SampleDamageLog::kMostRanges);
}

}  // namespace
}  // namespace bulkhead::session
