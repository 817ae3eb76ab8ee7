// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/given_index.h"

#include <gtest/gtest.h>

#include <vector>

namespace bulkhead::frames {
namespace {

std::vector<FrameMapping> Mappings(int count) {
  std::vector<FrameMapping> mappings;
  for (int i = 0; i < count; ++i) {
    mappings.push_back({.pts = i * 10, .duration = 10, .keyframe = i == 0});
  }
  return mappings;
}

TEST(IndexOfTest, HasTheFramesThatTheCallerLists) {
  const auto index = IndexOf(Mappings(3), 3);
  ASSERT_TRUE(index) << index.error();
  ASSERT_EQ(index->size(), 3u);
  EXPECT_EQ((*index)[2].pts, 20);
  EXPECT_EQ((*index)[2].duration, 10);
  EXPECT_TRUE((*index)[0].keyframe);
  EXPECT_FALSE((*index)[1].keyframe);
}

TEST(IndexOfTest, HoldsNoMoreFramesThanTheLimit) {
  const auto index = IndexOf(Mappings(4), 3);
  ASSERT_FALSE(index);
  EXPECT_EQ(index.error().code(), Code::kResourceExhausted);
}

TEST(IndexOfTest, RefusesTwoFramesWithOneTimestamp) {
  auto mappings = Mappings(3);
  mappings[2].pts = mappings[1].pts;
  const auto index = IndexOf(mappings, 3);
  ASSERT_FALSE(index);
  EXPECT_EQ(index.error().code(), Code::kInvalidArgument);
}

TEST(ApproximateIndexOfTest, HoldsNoMoreFramesThanTheLimit) {
  VideoMetadata metadata;
  metadata.time_base = {1, 1000};
  metadata.average_fps = 25;
  metadata.frame_count = 4;
  const auto index = ApproximateIndexOf(metadata, 4);
  ASSERT_TRUE(index) << index.error();
  EXPECT_EQ(index->size(), 4u);
  const auto refused = ApproximateIndexOf(metadata, 3);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace bulkhead::frames
