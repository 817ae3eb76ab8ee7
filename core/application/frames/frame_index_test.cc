// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/frame_index.h"

#include <gtest/gtest.h>

namespace bulkhead::session {
namespace {

ipc::IndexEntry At(int64_t pts, bool keyframe = false) {
  return {.pts = pts,
          .duration = 1,
          .keyframe = keyframe,
          .disordered = 0,
          .reserved = {}};
}

FrameIndex IndexOf(const std::vector<ipc::IndexEntry>& entries) {
  FrameIndex index(uint64_t{1} << 24);
  EXPECT_TRUE(index.Add(entries).ok());
  index.Finish();
  return index;
}

TEST(FrameIndexTest, OfNothingIsEmpty) {
  const FrameIndex index = IndexOf({});
  EXPECT_EQ(index.size(), 0u);
  EXPECT_TRUE(index.timestamped());
}

TEST(FrameIndexTest, IsInPresentationOrder) {
  const FrameIndex index = IndexOf({At(0, true), At(3), At(1), At(2), At(-5)});
  ASSERT_EQ(index.size(), 5u);
  EXPECT_TRUE(index.timestamped());
  EXPECT_EQ(index[0].pts, -5);
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(index[i + 1].pts, i);
}

TEST(FrameIndexTest, TakesPartsInDemuxingOrder) {
  FrameIndex index(uint64_t{1} << 24);
  const ipc::IndexEntry first[] = {At(0, true), At(2)};
  const ipc::IndexEntry second[] = {At(1)};
  EXPECT_TRUE(index.Add(first).ok());
  EXPECT_TRUE(index.Add({}).ok());
  EXPECT_TRUE(index.Add(second).ok());
  index.Finish();
  ASSERT_EQ(index.size(), 3u);
  EXPECT_EQ(index[1].pts, 1);
}

TEST(FrameIndexTest, AMissingTimestampLeavesDemuxingOrder) {
  const FrameIndex index = IndexOf({At(7), At(ipc::kNoTimestamp), At(3, true)});
  EXPECT_FALSE(index.timestamped());
  EXPECT_EQ(index[0].pts, 7);
  EXPECT_EQ(index[2].pts, 3);
  EXPECT_EQ(index.KeyframeOf(2), 2u);
}

TEST(FrameIndexTest, ARepeatedTimestampAddressesNothing) {
  EXPECT_FALSE(IndexOf({At(0), At(1), At(1)}).timestamped());
  EXPECT_FALSE(IndexOf({At(4), At(1), At(4)}).timestamped());
}

TEST(FrameIndexTest, FindsTheKeyframeAtOrBefore) {
  const FrameIndex index =
      IndexOf({At(0), At(1, true), At(2), At(3), At(4, true)});
  EXPECT_EQ(index.KeyframeOf(0), 0u);
  EXPECT_EQ(index.KeyframeOf(1), 1u);
  EXPECT_EQ(index.KeyframeOf(3), 1u);
  EXPECT_EQ(index.KeyframeOf(4), 4u);
}

TEST(FrameIndexTest, WithoutKeyframesBeginsAtTheBeginning) {
  EXPECT_EQ(IndexOf({At(0), At(1)}).KeyframeOf(1), 0u);
}

TEST(FrameIndexTest, TakesAnyValueInAnyField) {
  ipc::IndexEntry strange = At(INT64_MAX);
  strange.duration = INT64_MIN;
  strange.keyframe = 0xff;
  const FrameIndex index = IndexOf({strange, At(INT64_MIN + 1)});
  EXPECT_TRUE(index.timestamped());
  EXPECT_EQ(index[1].pts, INT64_MAX);
  EXPECT_EQ(index.KeyframeOf(1), 1u);
}

TEST(FrameIndexTest, EndsAtItsLimit) {
  FrameIndex index(1000);
  const std::vector<ipc::IndexEntry> part(500, At(0));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(index.Add(part).ok());
  const ipc::IndexEntry one_more[] = {At(0)};
  const Status status = index.Add(one_more);
  EXPECT_EQ(status.code(), Code::kResourceExhausted) << status;
  EXPECT_NE(status.message().find("index_frames"), std::string::npos);
  EXPECT_EQ(index.size(), 1000u);
}

}  // namespace
}  // namespace bulkhead::session
