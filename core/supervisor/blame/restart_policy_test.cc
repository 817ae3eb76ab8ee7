// SPDX-License-Identifier: Apache-2.0
//
// bound: nothing waits here, the test makes the times up.
#include "core/supervisor/blame/restart_policy.h"

#include <gtest/gtest.h>

namespace bulkhead::blame {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using Verdict = RestartPolicy::Verdict;

class RestartPolicyTest : public testing::Test {
 protected:
  milliseconds Backoff() const {
    return std::chrono::duration_cast<milliseconds>(policy_.retry_at() - now_);
  }

  RestartLimits limits_;
  double chance_ = 0;
  RestartPolicy policy_{limits_, [this] { return chance_; }};
  RestartPolicy::Time now_{std::chrono::hours(3)};
};

TEST_F(RestartPolicyTest, ABackoffDoublesUpToTheLongest) {
  for (int expected = 100; expected < 60'000; expected *= 2) {
    policy_.Declined(now_);
    EXPECT_EQ(Backoff(), milliseconds(std::min(expected, 30'000)));
    now_ = policy_.retry_at();
    EXPECT_FALSE(policy_.backs_off(now_));
  }
  for (int i = 0; i < 5'000; ++i) policy_.Declined(now_);
  EXPECT_EQ(Backoff(), milliseconds(30'000));
}

TEST_F(RestartPolicyTest, JitterLengthensByAtMostAQuarter) {
  chance_ = 0.999;
  policy_.Declined(now_);
  EXPECT_GT(Backoff(), milliseconds(120));
  EXPECT_LE(Backoff(), milliseconds(125));
}

TEST_F(RestartPolicyTest, FiveFailuresOfABackendInTenMinutesQuarantineIt) {
  for (const Culprit culprit : {Culprit::kBackend, Culprit::kStart}) {
    policy_.Forget();
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(policy_.Failed(culprit, now_), Verdict::kBackOff);
      now_ += seconds(30);
    }
    EXPECT_EQ(policy_.Failed(culprit, now_), Verdict::kQuarantine);
  }
}

TEST_F(RestartPolicyTest, FailuresThatAreFarApartAreNotTooMany) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(policy_.Failed(Culprit::kBackend, now_), Verdict::kBackOff) << i;
    now_ += seconds(151);
  }
  EXPECT_EQ(policy_.failures(Culprit::kBackend), 4u);
}

TEST_F(RestartPolicyTest, CountersAreSeparate) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(policy_.Failed(Culprit::kBackend, now_), Verdict::kBackOff);
    EXPECT_EQ(policy_.Failed(Culprit::kStart, now_), Verdict::kBackOff);
    EXPECT_EQ(policy_.Failed(Culprit::kDevice, now_), Verdict::kBackOff);
  }
  EXPECT_EQ(policy_.failures(Culprit::kStart), 4u);
  EXPECT_EQ(policy_.Failed(Culprit::kStart, now_), Verdict::kQuarantine);
  EXPECT_EQ(policy_.failures(Culprit::kBackend), 4u);
}

TEST_F(RestartPolicyTest, ADeviceThatIsGoneIsWaitedForAndNotPunished) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(policy_.Failed(Culprit::kDevice, now_), Verdict::kBackOff);
  }
  EXPECT_EQ(Backoff(), limits_.longest_backoff);
}

TEST_F(RestartPolicyTest, WhatSaysWhyItCannotStartIsNeverQuarantined) {
  for (int i = 0; i < 1'000; ++i) policy_.Declined(now_);
  EXPECT_EQ(policy_.failures(Culprit::kStart), 0u);
  EXPECT_EQ(policy_.Failed(Culprit::kStart, now_), Verdict::kBackOff);
}

TEST_F(RestartPolicyTest, AHealthyTimeForgivesEverything) {
  for (int i = 0; i < 4; ++i) policy_.Failed(Culprit::kBackend, now_);
  policy_.BecameReady(now_);
  now_ += limits_.healthy;
  EXPECT_EQ(policy_.Failed(Culprit::kBackend, now_), Verdict::kBackOff);
  EXPECT_EQ(policy_.failures(Culprit::kBackend), 1u);
  EXPECT_EQ(Backoff(), limits_.first_backoff);
}

TEST_F(RestartPolicyTest, BeingReadyForLessForgivesNothing) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(policy_.Failed(Culprit::kBackend, now_), Verdict::kBackOff);
    policy_.BecameReady(now_);
    now_ += limits_.healthy - milliseconds(1);
  }
  EXPECT_EQ(policy_.Failed(Culprit::kBackend, now_), Verdict::kQuarantine);
}

// Suspended or stopped, our clock stands still or jumps on: neither is blame.
TEST_F(RestartPolicyTest, ALeapOfTheClockOnlyForgives) {
  for (int i = 0; i < 4; ++i) policy_.Failed(Culprit::kBackend, now_);
  now_ += minutes(60 * 24 * 365);
  EXPECT_FALSE(policy_.backs_off(now_));
  EXPECT_EQ(policy_.Failed(Culprit::kBackend, now_), Verdict::kBackOff);
}

TEST_F(RestartPolicyTest, ForgettingIsAFreshStart) {
  for (int i = 0; i < 4; ++i) policy_.Failed(Culprit::kStart, now_);
  EXPECT_TRUE(policy_.backs_off(now_));
  policy_.Forget();
  EXPECT_FALSE(policy_.backs_off(now_));
  EXPECT_EQ(policy_.Failed(Culprit::kStart, now_), Verdict::kBackOff);
}

}  // namespace
}  // namespace bulkhead::blame
