// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/abi_breach.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace bulkhead::worker {
namespace {

TEST(EqualTimestamps, AreABreachWherePacketsHaveOthers) {
  EqualTimestamps times;
  for (int64_t pts = 0; pts < 17; ++pts) {
    times.Sent(pts);
    EXPECT_EQ(static_cast<bool>(times.Shown(3)), pts < 16) << pts;
  }
}

TEST(EqualTimestamps, ThatTheFileRepeatsAreNoBreach) {
  EqualTimestamps times;
  for (int64_t pts = 0; pts < 50; ++pts) {
    times.Sent(pts);
    EXPECT_TRUE(times.Shown(pts));
  }
  for (int packet = 0; packet < 50; ++packet) times.Sent(50);
  for (int frame = 0; frame < 50; ++frame) EXPECT_TRUE(times.Shown(50));
  EXPECT_TRUE(times.Ended());
}

}  // namespace
}  // namespace bulkhead::worker
