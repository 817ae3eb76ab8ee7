// SPDX-License-Identifier: Apache-2.0
#include "core/application/api/clip_plan.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace bulkhead {
namespace {

using Indices = std::vector<int64_t>;
using Times = std::vector<double>;

constexpr SecondsRange kPlayed{1, 5};
constexpr double kRate = 10;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Indices Regular(const IndexClips& request, uint64_t frames = 100) {
  return PlanClips(request, frames, std::nullopt).value();
}
Code IndexError(const IndexClips& request, uint64_t frames = 100) {
  const auto plan = PlanClips(request, frames, 7);
  return plan ? Code::kOk : plan.error().code();
}
Times Every(double seconds, const TimeClips& request) {
  return PlanClips(request, kPlayed, kRate, seconds, std::nullopt).value();
}
Code TimeError(const TimeClips& request, double rate = kRate) {
  const auto plan = PlanClips(request, kPlayed, rate, 0, 7);
  return plan ? Code::kOk : plan.error().code();
}
Code EveryError(double seconds, const TimeClips& request = {}) {
  const auto plan = PlanClips(request, kPlayed, kRate, seconds, std::nullopt);
  return plan ? Code::kOk : plan.error().code();
}

TEST(ClipPlan, RegularClipsReachFromTheFirstPlaceToTheLast) {
  EXPECT_EQ(Regular({.clips = 3}), (Indices{0, 49, 99}));
  EXPECT_EQ(Regular({.clips = 1}), (Indices{0}));
  EXPECT_EQ(Regular({.clips = 2, .frames_per_clip = 3}),
            (Indices{0, 1, 2, 97, 98, 99}));
  EXPECT_EQ(
      Regular({.clips = 2, .frames_per_clip = 3, .indices_between_frames = 10}),
      (Indices{0, 10, 20, 79, 89, 99}));
}

TEST(ClipPlan, TheRangeBoundsWhereClipsBegin) {
  EXPECT_EQ(Regular({.clips = 2, .range_start = 10, .range_end = 20}),
            (Indices{10, 19}));
  EXPECT_EQ(Regular({.clips = 2, .range_start = -10, .range_end = -5}),
            (Indices{90, 94}));
  EXPECT_EQ(Regular({.clips = 2, .range_end = 1'000}), (Indices{0, 99}));
  EXPECT_EQ(Regular({.clips = 4, .range_start = 10, .range_end = 11}),
            (Indices{10, 10, 10, 10}));
}

TEST(ClipPlan, RandomClipsBeginEverywhereInTheRangeAndNowhereElse) {
  std::set<int64_t> seen;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto plan = PlanClips(
        IndexClips{.clips = 4, .range_start = 3, .range_end = 9}, 100, seed);
    seen.insert(plan->begin(), plan->end());
  }
  EXPECT_EQ(seen, (std::set<int64_t>{3, 4, 5, 6, 7, 8}));
}

TEST(ClipPlan, ASeedGivesTheSameClipsForEver) {
  const IndexClips request{.clips = 4};
  EXPECT_EQ(PlanClips(request, 1'000'000, 42).value(),
            PlanClips(request, 1'000'000, 42).value());
  EXPECT_NE(PlanClips(request, 1'000'000, 42).value(),
            PlanClips(request, 1'000'000, 43).value());
}

TEST(ClipPlan, EachPolicyFillsAClipThatReachesBeyondTheEnd) {
  IndexClips request{.frames_per_clip = 5, .range_start = 98, .range_end = 99};
  EXPECT_EQ(Regular(request), (Indices{98, 99, 99, 99, 99}));
  request.policy = ClipPolicy::kWrap;
  EXPECT_EQ(Regular(request), (Indices{98, 99, 98, 99, 98}));
  request.policy = ClipPolicy::kError;
  EXPECT_EQ(IndexError(request), Code::kOutOfRange);
}

TEST(ClipPlan, AStreamThatIsShorterThanAClipHasOnePlace) {
  EXPECT_EQ(Regular({.clips = 2, .frames_per_clip = 4}, 2),
            (Indices{0, 1, 1, 1, 0, 1, 1, 1}));
  EXPECT_EQ(
      Regular({.frames_per_clip = 3, .indices_between_frames = UINT64_MAX}),
      (Indices{0, 0, 0}));
}

TEST(ClipPlan, RequestsOfIndicesThatMeanNothingAreRefused) {
  EXPECT_EQ(IndexError({.clips = 0}), Code::kInvalidArgument);
  EXPECT_EQ(IndexError({.frames_per_clip = 0}), Code::kInvalidArgument);
  EXPECT_EQ(IndexError({.indices_between_frames = 0}), Code::kInvalidArgument);
  EXPECT_EQ(IndexError({.range_start = 5, .range_end = 5}),
            Code::kInvalidArgument);
  EXPECT_EQ(IndexError({.range_start = 100}), Code::kOutOfRange);
  EXPECT_EQ(IndexError({.range_start = -101}), Code::kOutOfRange);
  EXPECT_EQ(IndexError({}, 0), Code::kOutOfRange);
  EXPECT_EQ(IndexError({.clips = UINT64_MAX, .frames_per_clip = 2}),
            Code::kResourceExhausted);
}

TEST(ClipPlan, RegularTimesBeginEverySoManySeconds) {
  EXPECT_EQ(Every(1, {}), (Times{1, 2, 3, 4}));
  EXPECT_EQ(Every(2, {.frames_per_clip = 2, .seconds_between_frames = 0.5}),
            (Times{1, 1.5, 3, 3.5}));
  EXPECT_EQ(Every(1.5, {.range_start = 2, .range_end = 4}), (Times{2, 3.5}));
  EXPECT_EQ(Every(1, {.range_end = 1'000}), (Times{1, 2, 3, 4}));
  EXPECT_EQ(Every(100, {}), (Times{1}));
}

TEST(ClipPlan, FramesAreAnAverageFrameApart) {
  const Times plan = Every(100, {.frames_per_clip = 3});
  ASSERT_EQ(plan.size(), 3u);
  EXPECT_DOUBLE_EQ(plan[1], 1.1);
  EXPECT_DOUBLE_EQ(plan[2], 1.2);
}

TEST(ClipPlan, RandomTimesKeepWholeClipsInside) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Times plan = PlanClips(TimeClips{.clips = 3,
                                           .frames_per_clip = 4,
                                           .seconds_between_frames = 1.25},
                                 kPlayed, kRate, 0, seed)
                           .value();
    ASSERT_EQ(plan.size(), 12u);
    for (const double at : plan) {
      EXPECT_GE(at, kPlayed.begin);
      EXPECT_LT(at, kPlayed.end);
    }
    EXPECT_DOUBLE_EQ(plan[3] - plan[0], 3.75);
  }
}

TEST(ClipPlan, EachPolicyFillsAClipThatReachesBeyondTheLastTime) {
  TimeClips request{.frames_per_clip = 3,
                    .seconds_between_frames = 1,
                    .range_start = 3.5,
                    .range_end = 3.6};
  EXPECT_EQ(Every(1, request), (Times{3.5, 4.5, 4.5}));
  request.policy = ClipPolicy::kWrap;
  EXPECT_EQ(Every(1, request), (Times{3.5, 4.5, 3.5}));
  request.policy = ClipPolicy::kError;
  EXPECT_EQ(EveryError(1, request), Code::kOutOfRange);
}

TEST(ClipPlan, RequestsOfTimesThatMeanNothingAreRefused) {
  EXPECT_EQ(TimeError({.clips = 0}), Code::kInvalidArgument);
  EXPECT_EQ(TimeError({.frames_per_clip = 0}), Code::kInvalidArgument);
  EXPECT_EQ(TimeError({.seconds_between_frames = 0}), Code::kInvalidArgument);
  EXPECT_EQ(TimeError({.seconds_between_frames = kNaN}),
            Code::kInvalidArgument);
  EXPECT_EQ(TimeError({}, 0), Code::kInvalidArgument);
  EXPECT_EQ(TimeError({.range_start = 2, .range_end = 2}),
            Code::kInvalidArgument);
  EXPECT_EQ(TimeError({.range_end = kNaN}), Code::kInvalidArgument);
  EXPECT_EQ(TimeError({.range_start = 0.5}), Code::kOutOfRange);
  EXPECT_EQ(TimeError({.range_start = 5}), Code::kOutOfRange);
  EXPECT_EQ(TimeError({.range_start = kNaN}), Code::kOutOfRange);
  EXPECT_EQ(EveryError(0), Code::kInvalidArgument);
  EXPECT_EQ(EveryError(kNaN), Code::kInvalidArgument);
  EXPECT_EQ(EveryError(1e-12), Code::kResourceExhausted);
}

}  // namespace
}  // namespace bulkhead
