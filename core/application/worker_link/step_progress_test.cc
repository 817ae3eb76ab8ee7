// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/step_progress.h"

#include <gtest/gtest.h>

namespace bulkhead::session {
namespace {

TEST(StepProgressTest, WhatDoesNotRiseIsNoProgress) {
  StepProgress progress(1);
  EXPECT_FALSE(progress.Advance(0));
  EXPECT_TRUE(progress.Advance(5));
  EXPECT_FALSE(progress.Advance(5));
  EXPECT_FALSE(progress.Advance(4));
  EXPECT_TRUE(progress.Advance(6));
}

TEST(StepProgressTest, LessThanTheLeastEarnsNothingUntilItAddsUp) {
  StepProgress progress(10);
  ASSERT_TRUE(progress.Advance(9));
  EXPECT_FALSE(progress.EarnsDeadline());
  ASSERT_TRUE(progress.Advance(10));
  EXPECT_TRUE(progress.EarnsDeadline());
  EXPECT_FALSE(progress.EarnsDeadline());
}

TEST(StepProgressTest, AnEvenPaceEarnsADeadlineEachTime) {
  StepProgress progress(1);
  for (uint64_t i = 1; i <= StepProgress::kParts; ++i) {
    ASSERT_TRUE(progress.Advance(i * 1000));
    EXPECT_TRUE(progress.EarnsDeadline()) << i;
  }
}

TEST(StepProgressTest, TheLeastProgressEarnsFewDeadlines) {
  StepProgress progress(1);
  constexpr uint64_t kMost = 1'000'000;
  uint64_t deadlines = 0;
  for (uint64_t i = 1; i <= kMost; ++i) {
    ASSERT_TRUE(progress.Advance(i));
    deadlines += progress.EarnsDeadline() ? 1 : 0;
  }
  // kParts for the first kParts steps, and kParts for each factor of e.
  EXPECT_LT(deadlines, 12 * StepProgress::kParts);
  EXPECT_GT(deadlines, StepProgress::kParts);
}

}  // namespace
}  // namespace bulkhead::session
