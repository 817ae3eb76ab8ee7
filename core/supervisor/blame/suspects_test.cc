// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/blame/suspects.h"

#include <gtest/gtest.h>

namespace bulkhead::blame {
namespace {

class SuspectsTest : public testing::Test {
 protected:
  void BringToTrial() {
    EXPECT_FALSE(suspects_.Died("a"));
    EXPECT_FALSE(suspects_.Died("b"));
    EXPECT_TRUE(suspects_.Died("c"));
  }

  Suspects suspects_;
};

TEST_F(SuspectsTest, OneInputIsNoReasonForATrial) {
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(suspects_.Died("a"));
}

TEST_F(SuspectsTest, TheThirdDifferentOneIs) {
  BringToTrial();
  EXPECT_FALSE(suspects_.convicted());
}

TEST_F(SuspectsTest, ThereIsOneTrialAtATime) {
  BringToTrial();
  EXPECT_FALSE(suspects_.Died("d"));
  suspects_.Judge(true);
  BringToTrial();
}

TEST_F(SuspectsTest, AFrameInBetweenBeginsAnew) {
  EXPECT_FALSE(suspects_.Died("a"));
  EXPECT_FALSE(suspects_.Died("b"));
  suspects_.Acquit();
  BringToTrial();
}

TEST_F(SuspectsTest, WhoWorksIsAcquitted) {
  BringToTrial();
  suspects_.Judge(true);
  EXPECT_FALSE(suspects_.convicted());
}

TEST_F(SuspectsTest, WhoFailsIsConvictedUntilAFrameIsDelivered) {
  BringToTrial();
  suspects_.Judge(false);
  EXPECT_TRUE(suspects_.convicted());
  suspects_.Acquit();
  EXPECT_FALSE(suspects_.convicted());
  BringToTrial();
}

TEST_F(SuspectsTest, AFrameDuringTheTrialIsTheBetterEvidence) {
  BringToTrial();
  suspects_.Acquit();
  suspects_.Judge(false);
  EXPECT_FALSE(suspects_.convicted());
}

}  // namespace
}  // namespace bulkhead::blame
