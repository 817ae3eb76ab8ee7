// SPDX-License-Identifier: Apache-2.0
#include "core/application/api/host_option_check.h"

#include <gtest/gtest.h>

namespace bulkhead {
namespace {

TEST(HostOptionCheck, TheDefaultsAreValid) {
  EXPECT_TRUE(CheckLimits(Limits()).ok());
  EXPECT_TRUE(CheckDeadlines(Deadlines()).ok());
}

TEST(HostOptionCheck, ALimitOfZeroIsNamed) {
  Limits limits;
  limits.frame_slots = 0;
  const Status status = CheckLimits(limits);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "option limits.frame_slots is 0; it must be at least 1");
}

TEST(HostOptionCheck, RestartsMayBeForbidden) {
  Limits limits;
  limits.restarts_per_position = 0;
  limits.kills_per_position = 0;
  EXPECT_TRUE(CheckLimits(limits).ok());
}

TEST(HostOptionCheck, ADeadlineInThePastIsNamed) {
  Deadlines deadlines;
  deadlines.close = std::chrono::milliseconds(0);
  EXPECT_TRUE(CheckDeadlines(deadlines).ok());
  deadlines.frame = std::chrono::milliseconds(-1);
  const Status status = CheckDeadlines(deadlines);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "option deadlines.frame is -1; it must be at least 1");
}

}  // namespace
}  // namespace bulkhead
