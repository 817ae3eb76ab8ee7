// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/frame_index.h"

#include <gtest/gtest.h>

namespace bulkhead::frames {
namespace {

// `enters`: a point of access, which the container calls a keyframe too.
ipc::IndexEntry At(int64_t pts, bool enters = false) {
  return {.pts = pts,
          .duration = 1,
          .position = -1,
          .check = enters ? 7u : 0u,
          .keyframe = enters,
          .disordered = 0,
          .derived = 0,
          .reserved = 0};
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
  EXPECT_EQ(index.EntryOf(2), 2u);
}

TEST(FrameIndexTest, ARepeatedTimestampAddressesNothing) {
  EXPECT_FALSE(IndexOf({At(0), At(1), At(1)}).timestamped());
  EXPECT_FALSE(IndexOf({At(4), At(1), At(4)}).timestamped());
}

TEST(FrameIndexTest, FindsTheEntryAtOrBefore) {
  const FrameIndex index =
      IndexOf({At(0), At(1, true), At(2), At(3), At(4, true)});
  EXPECT_EQ(index.EntryOf(0), std::nullopt);
  EXPECT_EQ(index.EntryOf(1), 1u);
  EXPECT_EQ(index.EntryOf(3), 1u);
  EXPECT_EQ(index.EntryOf(4), 4u);
}

TEST(FrameIndexTest, WhatTheContainerCallsAKeyframeIsNoEntry) {
  ipc::IndexEntry called = At(1);
  called.keyframe = 1;
  const FrameIndex index = IndexOf({At(0, true), called, At(2)});
  EXPECT_EQ(index.keyframes(), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(index.EntryOf(2), 0u);

  FrameIndex given(9, FrameIndex::Access::kKeyframes);
  const ipc::IndexEntry entries[] = {At(0, true), called, At(2)};
  ASSERT_TRUE(given.Add(entries).ok());
  given.Finish();
  EXPECT_EQ(given.EntryOf(2), 1u) << "its maker promises it";
}

TEST(FrameIndexTest, DerivedTimesAreGoodForTimesAlone) {
  ipc::IndexEntry derived = At(4);
  derived.disordered = derived.derived = 1;
  const FrameIndex index = IndexOf({At(0, true), derived, At(1), At(2)});
  EXPECT_TRUE(index.has_times());
  EXPECT_FALSE(index.timestamped());
  EXPECT_EQ(index[3].pts, 4);
  EXPECT_FALSE(IndexOf({At(4), derived}).has_times()) << "two at one time";
  derived.derived = 0;
  EXPECT_FALSE(IndexOf({At(0), derived}).has_times());
}

TEST(FrameIndexTest, TimesThatBeginAnewAtAnEntryAddressNothing) {
  EXPECT_FALSE(
      IndexOf({At(10, true), At(11), At(0, true), At(1)}).timestamped());
  ipc::IndexEntry called = At(0);
  called.keyframe = 1;
  EXPECT_FALSE(IndexOf({At(10), At(11), called, At(1)}).timestamped())
      << "no entry is known, so keyframes count";
  EXPECT_TRUE(IndexOf({At(2, true), At(4), called, At(3)}).timestamped())
      << "an entry is known";
}

TEST(FrameIndexTest, TakesAnyValueInAnyField) {
  ipc::IndexEntry strange = At(INT64_MAX);
  strange.duration = INT64_MIN;
  strange.keyframe = 0xff;
  strange.check = UINT32_MAX;
  const FrameIndex index = IndexOf({strange, At(INT64_MIN + 1)});
  EXPECT_TRUE(index.timestamped());
  EXPECT_EQ(index[1].pts, INT64_MAX);
  EXPECT_EQ(index.EntryOf(1), 1u);
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
}  // namespace bulkhead::frames
