// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/abi_breach.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace bulkhead::worker::decode {
namespace {

constexpr uint64_t kBytes = 1000;

TEST(EqualTimestamps, AreABreachWherePacketsHaveOthers) {
  EqualTimestamps times;
  for (int64_t pts = 0; pts < 18; ++pts) {
    times.Sent(pts, kBytes);
    EXPECT_EQ(static_cast<bool>(times.Shown(3)), pts < 17) << pts;
  }
}

TEST(EqualTimestamps, OfThePicturesOfOnePacketAreNoBreach) {
  EqualTimestamps times;
  for (int64_t pts = 0; pts < 50; ++pts) {
    times.Sent(pts, kBytes);
    EXPECT_TRUE(times.Shown(pts));
  }
  // Others are sent ahead.
  for (int64_t pts = 50; pts < 60; ++pts) times.Sent(pts, kBytes);
  for (int frame = 0; frame < 40; ++frame) EXPECT_TRUE(times.Shown(50));
  EXPECT_TRUE(times.Shown(51));
}

TEST(EqualTimestamps, OfMorePicturesThanThePacketHasBytesAreABreach) {
  EqualTimestamps times;
  for (int64_t pts = 0; pts < 50; ++pts) times.Sent(pts, kBytes);
  for (uint64_t frame = 0; frame < kBytes; ++frame) {
    EXPECT_TRUE(times.Shown(49));
  }
  EXPECT_FALSE(times.Shown(49));
}

TEST(EqualTimestamps, ThatTheFileRepeatsAreNoBreach) {
  EqualTimestamps times;
  for (int64_t pts = 0; pts < 50; ++pts) {
    times.Sent(pts, kBytes);
    EXPECT_TRUE(times.Shown(pts));
  }
  for (int packet = 0; packet < 50; ++packet) times.Sent(50, kBytes);
  for (int frame = 0; frame < 50; ++frame) EXPECT_TRUE(times.Shown(50));
  EXPECT_TRUE(times.Ended());
}

}  // namespace
}  // namespace bulkhead::worker::decode
