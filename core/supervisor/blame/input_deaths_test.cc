// SPDX-License-Identifier: Apache-2.0
//
// bound: nothing waits here, the test makes the times up.
#include "core/supervisor/blame/input_deaths.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace bulkhead::blame {
namespace {

using Step = InputPosition::Step;

constexpr InputPosition kOpening{.step = Step::kOpening};

InputPosition Frame(uint64_t frame) { return {Step::kFrame, frame}; }

class InputDeathsTest : public testing::Test {
 protected:
  uint32_t Die(const std::string& input, InputPosition position) {
    ExitReport report;
    report.value = SIGSEGV;
    return inputs_.Died(input, position, report, now_);
  }
  size_t Refusals(const std::string& input) {
    return inputs_.Refused(input, now_).size();
  }

  InputDeaths inputs_{3};
  InputDeaths::Time now_{std::chrono::hours(1)};
};

TEST_F(InputDeathsTest, TheThirdDeathAtOnePositionIsOneTooMany) {
  EXPECT_EQ(Die("a", Frame(60)), 1u);
  EXPECT_EQ(Die("a", Frame(60)), 2u);
  EXPECT_EQ(Refusals("a"), 0u);
  EXPECT_EQ(Die("a", Frame(60)), 3u);
  const auto refused = inputs_.Refused("a", now_);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].position, Frame(60));
  EXPECT_EQ(refused[0].deaths, 3u);
  EXPECT_EQ(refused[0].last.value, SIGSEGV);
}

TEST_F(InputDeathsTest, OtherInputsAndPositionsAreNotConcerned) {
  for (int i = 0; i < 2; ++i) {
    Die("a", Frame(60));
    Die("a", Frame(61));
    Die("a", kOpening);
    Die("b", Frame(60));
  }
  Die("a", Frame(60));
  EXPECT_EQ(Refusals("a"), 1u);
  EXPECT_EQ(Refusals("b"), 0u);
  EXPECT_EQ(Refusals(""), 0u);
}

TEST_F(InputDeathsTest, ADeliveredFrameAcquits) {
  Die("a", Frame(60));
  Die("a", Frame(60));
  inputs_.Delivered("a", Frame(60));
  EXPECT_EQ(Die("a", Frame(60)), 1u);
}

TEST_F(InputDeathsTest, ADeliveredFrameProvesThatOpeningWorks) {
  for (int i = 0; i < 2; ++i) {
    Die("a", kOpening);
    Die("a", Frame(60));
  }
  inputs_.Delivered("a", Frame(0));
  EXPECT_EQ(Die("a", kOpening), 1u);
  EXPECT_EQ(Die("a", Frame(60)), 3u);
}

TEST_F(InputDeathsTest, APoisonedInputMayTryAgainAfterTenMinutes) {
  for (int i = 0; i < 3; ++i) Die("a", kOpening);
  now_ += InputDeaths::kLifetime - std::chrono::seconds(1);
  EXPECT_EQ(Refusals("a"), 1u);
  now_ += std::chrono::seconds(1);
  EXPECT_EQ(Refusals("a"), 0u);
  EXPECT_EQ(Die("a", kOpening), 1u);
}

TEST_F(InputDeathsTest, ForgettingLetsEveryInputTryAgain) {
  for (int i = 0; i < 3; ++i) Die("a", kOpening);
  inputs_.Forget();
  EXPECT_EQ(Refusals("a"), 0u);
}

TEST_F(InputDeathsTest, OfTooManyTheOldestIsForgotten) {
  for (int i = 0; i < 3; ++i) Die("first", kOpening);
  for (size_t i = 0; i < InputDeaths::kMaxPositions; ++i) {
    EXPECT_EQ(Refusals("first"), 1u);
    now_ += std::chrono::microseconds(1);
    Die("other", Frame(i));
  }
  EXPECT_EQ(Refusals("first"), 0u);
}

}  // namespace
}  // namespace bulkhead::blame
