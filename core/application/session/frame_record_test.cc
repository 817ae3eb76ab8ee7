// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/frame_record.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace bulkhead::session {
namespace {

using Start = worker_link::PlayRequest::Start;

class FrameRecordTest : public testing::Test {
 protected:
  // Adds a frame of 10 ticks. Its offset in the file is 1,000 more than its
  // timestamp, its fingerprint 100 more.
  void Add(int64_t pts, uint32_t check = 0, bool delivered = true) {
    record_.Add({.pts = pts,
                 .duration = 10,
                 .position = 1'000 + pts,
                 .check = check,
                 .delivered = delivered},
                static_cast<uint64_t>(100 + pts));
  }

  Witness witness_{/*may_move=*/false, /*report=*/nullptr};
  FrameRecord record_{witness_, /*most=*/3};
};

TEST_F(FrameRecordTest, KeepsTheLastFramesAndCountsAll) {
  EXPECT_TRUE(record_.empty());
  for (const int64_t pts : {0, 10, 20}) Add(pts);
  EXPECT_FALSE(record_.has_dropped());
  Add(30);
  EXPECT_TRUE(record_.has_dropped());
  EXPECT_EQ(record_.size(), 3u);
  EXPECT_EQ(record_[0].pts, 10);
  EXPECT_EQ(record_.back().pts, 30);
  EXPECT_EQ(record_.next(), 4u);
  record_.Clear();
  EXPECT_EQ(record_.next(), 0u);
  EXPECT_FALSE(record_.has_dropped());
}

TEST_F(FrameRecordTest, APlayBeginsAtTheLastPointOfAccess) {
  Add(0);
  EXPECT_EQ(record_.PlayTo(0).start, Start::kBeginning);
  Add(10, /*check=*/7);
  Add(20);
  EXPECT_EQ(record_.PlayTo(0).start, Start::kBeginning);
  const worker_link::PlayRequest play = record_.PlayTo(2);
  EXPECT_EQ(play.start, Start::kPacket);
  EXPECT_EQ(play.entry.pts, 10);
  EXPECT_EQ(play.entry.position, 1'010);
  EXPECT_EQ(play.entry.check, 7u);
}

TEST_F(FrameRecordTest, APointOfAccessOutlivesItsFrame) {
  Add(0, /*check=*/7);
  for (const int64_t pts : {10, 20, 30}) Add(pts);
  EXPECT_EQ(record_.PlayTo(2).start, Start::kPacket);
  EXPECT_EQ(record_.PlayTo(2).entry.pts, 0);
  record_.Clear();
  Add(0);
  EXPECT_EQ(record_.PlayTo(0).start, Start::kBeginning);
}

TEST_F(FrameRecordTest, TimestampsThatAreMissingOrRepeatAreNotAscending) {
  Add(10);
  Add(20);
  EXPECT_TRUE(record_.ascending());
  Add(20);
  EXPECT_FALSE(record_.ascending());
  record_.Clear();
  EXPECT_TRUE(record_.ascending());
  record_.Disorder();
  EXPECT_FALSE(record_.ascending());
  record_.Clear();
  Add(ipc::kNoTimestamp);
  EXPECT_FALSE(record_.ascending());
}

TEST_F(FrameRecordTest, ComparesOnlyWhatIsAsked) {
  Add(0);
  Add(10);
  const FrameRecord::Stamp same{.pts = 10, .duration = 10, .position = 1'010};
  const FrameRecord::Compared all{
      .positions = true, .durations = true, .pictures = true};
  EXPECT_TRUE(record_.IsSame(1, same, 110, all));
  EXPECT_FALSE(record_.IsSame(0, same, 110, all));
  EXPECT_FALSE(record_.IsSame(1, same, 111, all));
  EXPECT_TRUE(
      record_.IsSame(1, same, 111, {.positions = true, .durations = true}));
  FrameRecord::Stamp moved = same;
  moved.position = 5;
  EXPECT_FALSE(record_.IsSame(1, moved, 110, all));
  EXPECT_TRUE(
      record_.IsSame(1, moved, 110, {.durations = true, .pictures = true}));
  FrameRecord::Stamp longer = same;
  longer.duration = 11;
  EXPECT_FALSE(record_.IsSame(1, longer, 110, all));
  EXPECT_TRUE(
      record_.IsSame(1, longer, 110, {.positions = true, .pictures = true}));
}

TEST_F(FrameRecordTest, CountsTheDeliveredAmongTheLast) {
  Add(0);
  Add(10, /*check=*/0, /*delivered=*/false);
  Add(20);
  EXPECT_EQ(record_.DeliveredOfLast(0), 0u);
  EXPECT_EQ(record_.DeliveredOfLast(2), 1u);
  EXPECT_EQ(record_.DeliveredOfLast(3), 2u);
}

}  // namespace
}  // namespace bulkhead::session
