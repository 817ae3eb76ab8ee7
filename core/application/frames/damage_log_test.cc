// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/damage_log.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "ipc/damage_sign.h"

namespace bulkhead::frames {
namespace {

Damage At(uint64_t frame) {
  return {{.pts = static_cast<int64_t>(10 * frame),
           .duration = 10,
           .position = static_cast<int64_t>(1000 - frame)},
          frame};
}

TEST(DamageLog, FramesThatFollowEachOtherAreOneRange) {
  DamageLog log;
  for (const uint64_t frame : {7, 5, 6, 6, 20, 5}) log.Add(At(frame));
  const auto ranges = log.Ranges(0.1);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].first_frame, 5u);
  EXPECT_EQ(ranges[0].last_frame, 7u);
  EXPECT_EQ(ranges[0].frames, 3u);
  EXPECT_DOUBLE_EQ(*ranges[0].begin_seconds, 5.0);
  EXPECT_DOUBLE_EQ(*ranges[0].end_seconds, 8.0);
  EXPECT_EQ(ranges[0].first_byte, 993);
  EXPECT_EQ(ranges[0].last_byte, 995);
  EXPECT_EQ(ranges[1].first_frame, 20u);
  EXPECT_TRUE(log.Has(0, 5));
  EXPECT_TRUE(log.Has(7, 19));
  EXPECT_FALSE(log.Has(0, 4));
  EXPECT_FALSE(log.Has(8, 19));
}

TEST(DamageLog, WhatHasNoPlaceComesLastAndIsNotAddedUp) {
  DamageLog log;
  for (const uint64_t frames : {3, 9, 3}) {
    log.Add({{.position = 50, .packets = frames, .end_position = 71}});
  }
  log.Add(At(1));
  const auto ranges = log.Ranges(1);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[1].frames, 9u);
  EXPECT_EQ(ranges[1].first_byte, 50);
  EXPECT_EQ(ranges[1].last_byte, 70);
  EXPECT_FALSE(ranges[1].first_frame);
}

TEST(DamageLog, FramesWithoutTimestampsHaveNoTimes) {
  DamageLog log;
  for (const uint64_t frame : {7, 8}) {
    log.Add({{.duration = 10, .position = 900}, frame});
  }
  const auto unknown = log.Ranges(0.1);
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_FALSE(unknown[0].begin_seconds);
  EXPECT_FALSE(unknown[0].end_seconds);

  // One frame of a run that has a timestamp is enough.
  log.Add(At(9));
  log.Add({{}, 10});
  const auto told = log.Ranges(0.1);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].first_frame, 7u);
  EXPECT_DOUBLE_EQ(told[0].begin_seconds.value_or(-1), 9.0);
  EXPECT_DOUBLE_EQ(told[0].end_seconds.value_or(-1), 10.0);
}

TEST(DamageLog, TimesThatOnlyADamagedFileHasAreUnknown) {
  DamageLog log;
  log.Add({{.pts = INT64_MIN / 3, .duration = 1}, 1});
  log.Add({{.pts = INT64_C(1'700'000'000'000), .duration = 1}, 3});
  const auto ranges = log.Ranges(0.001);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_FALSE(ranges[0].begin_seconds);
  EXPECT_FALSE(ranges[0].end_seconds);
  EXPECT_TRUE(ranges[1].begin_seconds) << "seconds since 1970";
}

TEST(DamageLog, ARangeHasTheSignOfItsFirstFrame) {
  DamageLog log;
  for (const auto& [frame, sign] :
       {std::pair{uint64_t{7}, ipc::DamageSign::kRefersToDamaged},
        {uint64_t{6}, ipc::DamageSign::kRejected},
        {uint64_t{8}, ipc::DamageSign::kNoPicture},
        {uint64_t{20}, ipc::DamageSign::kFlagged}}) {
    Damage damage = At(frame);
    damage.sign = sign;
    log.Add(damage);
  }
  log.Add({{.packets = 3,
            .sign = ipc::DamageSign::kCutOff,
            .not_in_index = true,
            .end_position = 90}});
  const auto ranges = log.Ranges(1);
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].sign, DamageSign::kRejected);
  EXPECT_EQ(ranges[0].frames, 3u);
  EXPECT_EQ(ranges[1].sign, DamageSign::kFlagged);
  EXPECT_EQ(ranges[2].sign, DamageSign::kCutOff);
  for (const DamagedRange& range : ranges) {
    EXPECT_EQ(range.kind, DamageKind::kDamage);
  }
}

Damage NoteAt(int64_t position,
              ipc::DamageSign sign = ipc::DamageSign::kMarked) {
  return {{.pts = 30, .duration = 10, .position = position, .sign = sign}};
}

TEST(DamageLog, NotesStandBesideDamageAndForNoFrame) {
  DamageLog log;
  log.Add(NoteAt(900));
  log.Add(NoteAt(50));
  log.Add(NoteAt(50));
  log.Add(NoteAt(50, ipc::DamageSign::kGap));
  log.Add(At(3));
  EXPECT_FALSE(log.Has(0, 2));
  const auto ranges = log.Ranges(0.1);
  ASSERT_EQ(ranges.size(), 4u);
  EXPECT_EQ(ranges[0].kind, DamageKind::kDamage);
  EXPECT_EQ(ranges[0].frames, 1u);
  for (size_t i = 1; i < ranges.size(); ++i) {
    EXPECT_EQ(ranges[i].kind, DamageKind::kNote);
    EXPECT_EQ(ranges[i].frames, 0u);
    EXPECT_FALSE(ranges[i].first_frame || ranges[i].last_frame);
    EXPECT_DOUBLE_EQ(ranges[i].begin_seconds.value_or(-1), 3.0);
    EXPECT_EQ(ranges[i].first_byte, ranges[i].last_byte);
  }
  EXPECT_EQ(ranges[1].sign, DamageSign::kMarked);
  EXPECT_EQ(ranges[2].sign, DamageSign::kGap);
  EXPECT_EQ(ranges[3].first_byte, 900);
}

TEST(DamageLog, NotesAreBoundedAndTheLastOneExtends) {
  DamageLog log;
  constexpr int64_t kNotes = 3 * DamageLog::kMostRanges;
  for (int64_t i = 0; i < kNotes; ++i) log.Add(NoteAt(i));
  const auto ranges = log.Ranges(1);
  ASSERT_EQ(ranges.size(), DamageLog::kMostRanges);
  EXPECT_EQ(ranges.back().last_byte, kNotes - 1);
  EXPECT_EQ(ranges.back().frames, 0u);
}

TEST(DamageLog, IsBoundedAndStillCounts) {
  DamageLog log;
  constexpr uint64_t kFrames = 3 * DamageLog::kMostRanges;
  for (uint64_t i = 0; i < kFrames; ++i) log.Add(At(2 * i));
  log.Add({{.pts = INT64_MAX, .duration = INT64_MAX}, UINT64_MAX});
  uint64_t frames = 0;
  const auto ranges = log.Ranges(1);
  for (const DamagedRange& range : ranges) frames += range.frames;
  EXPECT_EQ(ranges.size(), DamageLog::kMostRanges);
  EXPECT_EQ(frames, kFrames + 1);
}

}  // namespace
}  // namespace bulkhead::frames
