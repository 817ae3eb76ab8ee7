// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/sample_damage_log.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "ipc/damage_sign.h"

namespace bulkhead::frames {
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

TEST(SampleDamageLog, ARunHasTheSignOfItsFirstSample) {
  SampleDamageLog log;
  log.Add({.first = 100, .count = 50, .sign = ipc::DamageSign::kStopped});
  log.Add({.first = 150, .count = 10, .sign = ipc::DamageSign::kCutOff});
  log.Add({.first = 90, .count = 10, .sign = ipc::DamageSign::kRejected});
  const auto ranges = log.Ranges(0, 1);
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].sign, DamageSign::kRejected);
  EXPECT_EQ(ranges[0].samples, 70u);
}

TEST(SampleDamageLog, NotesStandBesideDamageAndForNoSample) {
  SampleDamageLog log;
  const ipc::LostSamples note{.first = 120,
                              .sign = ipc::DamageSign::kGap,
                              .first_byte = 7,
                              .last_byte = 7};
  log.Add(note);
  log.Add(note);
  EXPECT_FALSE(log.FirstIn(0, 1000));
  log.Add({.first = 100, .count = 20});
  log.Add({.first = 120, .count = 20});
  const auto ranges = log.Ranges(0, 10);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].kind, DamageKind::kDamage);
  EXPECT_EQ(ranges[0].samples, 40u);
  EXPECT_EQ(ranges[1].kind, DamageKind::kNote);
  EXPECT_EQ(ranges[1].sign, DamageSign::kGap);
  EXPECT_EQ(ranges[1].samples, 0u);
  EXPECT_EQ(ranges[1].first_sample, 120u);
  EXPECT_EQ(ranges[1].begin_seconds, 12);
  EXPECT_EQ(ranges[1].end_seconds, 12);
}

TEST(SampleDamageLog, NotesAreBounded) {
  SampleDamageLog log;
  constexpr int64_t kNotes = 3 * SampleDamageLog::kMostRanges;
  for (int64_t i = 0; i < kNotes; ++i) {
    log.Add({.first = i,
             .sign = ipc::DamageSign::kMarked,
             .first_byte = i,
             .last_byte = i});
  }
  const auto ranges = log.Ranges(0, 1);
  ASSERT_EQ(ranges.size(), SampleDamageLog::kMostRanges);
  EXPECT_EQ(ranges.back().last_byte, kNotes - 1);
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
}  // namespace bulkhead::frames
