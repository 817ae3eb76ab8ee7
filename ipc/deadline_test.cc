// SPDX-License-Identifier: Apache-2.0
#include "ipc/deadline.h"

#include <gtest/gtest.h>

namespace bulkhead::ipc {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(DeadlineTest, OneInThePastHasPassedAndLeavesNothing) {
  const Deadline deadline = Deadline::After(milliseconds(-5));
  EXPECT_TRUE(deadline.passed());
  EXPECT_EQ(deadline.remaining(), nanoseconds(0));
  EXPECT_EQ(deadline.remaining_timespec().tv_sec, 0);
  EXPECT_EQ(deadline.remaining_timespec().tv_nsec, 0);
}

TEST(DeadlineTest, OneInTheFutureCountsDown) {
  const Deadline deadline = Deadline::After(milliseconds(60'500));
  EXPECT_FALSE(deadline.passed());
  const timespec left = deadline.remaining_timespec();
  EXPECT_LE(left.tv_sec, 60);
  EXPECT_GE(left.tv_sec, 30);
  EXPECT_LT(left.tv_nsec, 1'000'000'000);
  EXPECT_GE(left.tv_nsec, 0);
}

TEST(DeadlineTest, TheLongestDurationDoesNotOverflow) {
  const Deadline deadline = Deadline::After(milliseconds::max());
  EXPECT_FALSE(deadline.passed());
  EXPECT_GT(deadline.remaining(), hours(24 * 364));
}

TEST(DeadlineTest, TheShortestDurationDoesNotOverflow) {
  EXPECT_TRUE(Deadline::After(milliseconds::min()).passed());
}

}  // namespace
}  // namespace bulkhead::ipc
