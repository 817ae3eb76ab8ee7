// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/frame_times.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "core/worker_protocol/stream_timing.h"

namespace bulkhead::frames {
namespace {

constexpr Ratio kTick{1, 10};  // seconds
constexpr Ratio kRate{5, 1};
constexpr uint64_t kMany = 1'000;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Indices = std::vector<uint64_t>;

FrameIndex IndexOf(const std::vector<ipc::IndexEntry>& entries) {
  FrameIndex index;
  EXPECT_TRUE(index.Add(entries).ok());
  index.Finish();
  return index;
}

// Frames at 1.0 s, 1.2 s, a late one at 1.7 s, and 1.8 s; the second's duration
// leaves a gap, the third's overlaps.
class FrameTimesTest : public testing::Test {
 protected:
  FrameTimes Times() {
    return FrameTimes::Create(index_, kTick, kRate).value();
  }

  Indices InRange(double start, double stop) {
    return Times()
        .PlayedInRange(start, stop, std::nullopt, kMany)
        .value()
        .indices;
  }
  Code RangeError(double start, double stop,
                  std::optional<double> fps = std::nullopt) {
    const auto choice = Times().PlayedInRange(start, stop, fps, kMany);
    return choice ? Code::kOk : choice.error().code();
  }

  FrameIndex index_ = IndexOf({{.pts = 10, .duration = 2, .keyframe = 1},
                               {.pts = 12, .duration = 2},
                               {.pts = 17, .duration = 2},
                               {.pts = 18, .duration = 3}});
};

TEST_F(FrameTimesTest, TheStreamPlaysFromItsFirstTimestampToItsLastEnd) {
  EXPECT_DOUBLE_EQ(Times().begin(), 1.0);
  EXPECT_DOUBLE_EQ(Times().end(), 2.1);
}

TEST_F(FrameTimesTest, AFrameIsPlayedFromItsTimestampUntilTheNext) {
  for (const auto& [seconds, frame] :
       std::vector<std::pair<double, uint64_t>>{{1.0, 0},
                                                {1.1999, 0},
                                                {1.2, 1},
                                                {1.69, 1},
                                                {1.7, 2},
                                                {1.8, 3},
                                                {2.0999, 3}}) {
    EXPECT_EQ(Times().PlayedAt(seconds).value(), frame) << seconds;
  }
}

TEST_F(FrameTimesTest, EachFrameIsFoundByItsOwnTime) {
  std::vector<ipc::IndexEntry> entries;
  for (int64_t i = 0; i < 5'000; ++i) {
    entries.push_back({.pts = 1'001 * i + 77, .duration = 1'001});
  }
  const FrameIndex index = IndexOf(entries);
  for (const Ratio base : {Ratio{1, 30'000}, Ratio{1, 90'000}, Ratio{3, 7}}) {
    const auto times = FrameTimes::Create(index, base, kRate).value();
    for (size_t i = 0; i < index.size(); ++i) {
      ASSERT_EQ(
          times.PlayedAt(worker_protocol::Seconds(index[i].pts, base)).value(),
          i);
    }
  }
}

// The pictures of common rates, asked for as callers compute times.
TEST_F(FrameTimesTest, ATimeThatIsOffByItsLastBitsFindsItsFrame) {
  size_t off = 0;
  for (const Ratio rate : {Ratio{24, 1}, Ratio{25, 1}, Ratio{30, 1},
                           Ratio{60, 1}, Ratio{30'000, 1'001}}) {
    std::vector<ipc::IndexEntry> entries;
    const double fps = rate.value();
    for (int64_t i = 0; i < 1'000; ++i) {
      entries.push_back({.pts = 7 + i * rate.denominator,
                         .duration = rate.denominator,
                         .position = -1});
    }
    const FrameIndex index = IndexOf(entries);
    const Ratio tick{1, rate.numerator};
    const FrameTimes times = FrameTimes::Create(index, tick, rate).value();
    for (uint64_t i = 0; i < 1'000; ++i) {
      const double at = times.begin() + static_cast<double>(i) / fps;
      off += at < worker_protocol::Seconds(index[i].pts, tick);
      EXPECT_EQ(times.PlayedAt(at).value(), i) << rate.numerator;
      char printed[32];
      std::snprintf(printed, sizeof printed, "%.6f", at);
      EXPECT_EQ(times.PlayedAt(std::atof(printed)).value(), i) << printed;
    }
    // A range ends before the frame at its end, however that was computed.
    const double stop = times.begin() + 10 / fps + 1e-9;
    EXPECT_EQ(
        times.PlayedInRange(times.begin() - 1e-9, stop, std::nullopt, kMany)
            .value()
            .indices.size(),
        10u);
  }
  EXPECT_GT(off, 100u) << "none of the times is off";
}

TEST_F(FrameTimesTest, TheToleranceReachesNoOtherFrame) {
  const FrameIndex index = IndexOf(
      {{.pts = 0, .duration = 1}, {.pts = 1, .duration = 1}, {.pts = 2}});
  const FrameTimes nanoseconds =
      FrameTimes::Create(index, {1, 1'000'000'000}, kRate).value();
  EXPECT_EQ(nanoseconds.PlayedAt(0.4e-9).value(), 0u);
  EXPECT_EQ(nanoseconds.PlayedAt(0.6e-9).value(), 1u);
  EXPECT_EQ(Times().PlayedAt(1.2 - 2e-6).value(), 0u);
  EXPECT_EQ(Times().PlayedAt(1.2 - 0.9e-6).value(), 1u);
}

TEST_F(FrameTimesTest, NothingIsPlayedOutsideTheStream) {
  for (const double seconds : {0.0, 0.9999, 2.1, 3.0, -1.0}) {
    EXPECT_EQ(Times().PlayedAt(seconds).error().code(), Code::kOutOfRange)
        << seconds;
  }
  EXPECT_EQ(Times().PlayedAt(kNaN).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(Times().PlayedAt(kInfinity).error().code(), Code::kInvalidArgument);
}

TEST_F(FrameTimesTest, ARangeHoldsWhatIsOnTheScreenInIt) {
  EXPECT_EQ(InRange(1.0, 2.1), (Indices{0, 1, 2, 3}));
  EXPECT_EQ(InRange(1.0, 1.2), (Indices{0}));
  EXPECT_EQ(InRange(1.1, 1.2001), (Indices{0, 1}));
  EXPECT_EQ(InRange(1.3, 1.6), (Indices{1}));
  EXPECT_EQ(InRange(1.75, 1.76), (Indices{2}));
  EXPECT_EQ(InRange(1.9, 2.1), (Indices{3}));
}

TEST_F(FrameTimesTest, ARangeWithoutLengthIsEmpty) {
  EXPECT_EQ(InRange(1.5, 1.5), Indices());
}

TEST_F(FrameTimesTest, ARangeThatIsNoneOrNotInTheStreamIsRefused) {
  EXPECT_EQ(RangeError(1.5, 1.4), Code::kInvalidArgument);
  EXPECT_EQ(RangeError(kNaN, 1.4), Code::kInvalidArgument);
  EXPECT_EQ(RangeError(1.1, kNaN), Code::kInvalidArgument);
  EXPECT_EQ(RangeError(0.9, 1.4), Code::kOutOfRange);
  EXPECT_EQ(RangeError(2.1, 2.1), Code::kOutOfRange);
  EXPECT_EQ(RangeError(1.1, 2.2), Code::kOutOfRange);
}

TEST_F(FrameTimesTest, FramesAreRepeatedOrLeftOutForAnotherRate) {
  const auto choice = Times().PlayedInRange(1.0, 2.0, 10.0, kMany).value();
  EXPECT_EQ(choice.indices, (Indices{0, 0, 1, 1, 1, 1, 1, 2, 3, 3}));
  EXPECT_DOUBLE_EQ(choice.duration_seconds, 0.1);
  ASSERT_EQ(choice.pts_seconds.size(), 10u);
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_DOUBLE_EQ(choice.pts_seconds[i], 1.0 + static_cast<double>(i) / 10);
  }
  EXPECT_EQ(Times().PlayedInRange(1.0, 2.0, 2.0, kMany).value().indices,
            (Indices{0, 1}));
}

TEST_F(FrameTimesTest, TheNumberOfPicturesIsRounded) {
  const auto count = [&](double stop, double fps) {
    return Times().PlayedInRange(1.0, stop, fps, kMany).value().indices.size();
  };
  EXPECT_EQ(count(1.5, 3), 2u);  // 1.5
  EXPECT_EQ(count(1.4, 3), 1u);  // 1.2
  EXPECT_EQ(count(1.1, 3), 0u);  // 0.3
  EXPECT_EQ(count(2.1, 100), 110u);
}

TEST_F(FrameTimesTest, ARateThatIsNotPositiveIsRefused) {
  for (const double fps : {0.0, -1.0, kNaN, kInfinity}) {
    EXPECT_EQ(RangeError(1.0, 2.0, fps), Code::kInvalidArgument) << fps;
  }
}

TEST_F(FrameTimesTest, NoRequestTakesMoreThanItMay) {
  EXPECT_EQ(RangeError(1.0, 2.0, 1e18), Code::kResourceExhausted);
  EXPECT_EQ(Times().PlayedInRange(1.0, 2.0, std::nullopt, 3).error().code(),
            Code::kResourceExhausted);
}

TEST_F(FrameTimesTest, ALastFrameWithoutDurationIsShownLikeTheOneBefore) {
  const FrameIndex index = IndexOf({{.pts = 0}, {.pts = 4}, {.pts = 9}});
  const auto times = FrameTimes::Create(index, kTick, kRate).value();
  EXPECT_DOUBLE_EQ(times.end(), 1.4);
  const FrameIndex one = IndexOf({{.pts = 3}});
  EXPECT_DOUBLE_EQ(FrameTimes::Create(one, kTick, kRate).value().end(), 0.5);
  EXPECT_DOUBLE_EQ(FrameTimes::Create(one, kTick, {}).value().end(), 0.4);
}

TEST_F(FrameTimesTest, ExtremeTicksDoNotOverflow) {
  const FrameIndex index = IndexOf({{.pts = -INT64_MAX, .duration = INT64_MAX},
                                    {.pts = INT64_MAX, .duration = INT64_MAX}});
  const auto times = FrameTimes::Create(index, kTick, kRate).value();
  EXPECT_EQ(times.PlayedAt(0).value(), 0u);
  EXPECT_TRUE(std::isfinite(times.end()));
}

TEST_F(FrameTimesTest, FramesThatTimesCannotTellApartAreNotFoundByTime) {
  const std::pair<FrameIndex, const char*> kCases[] = {
      {IndexOf({{.pts = 1}, {.pts = 1}}), "its timestamps repeat"},
      {IndexOf({}), "no frames"},
      {IndexOf({{.pts = ipc::kNoTimestamp}, {.pts = 1}}),
       "1 of its 2 frames have no timestamp"},
  };
  for (const auto& [index, reason] : kCases) {
    const Status error = FrameTimes::Create(index, kTick, kRate).error();
    EXPECT_EQ(error.code(), Code::kBadInput);
    EXPECT_NE(error.message().find(reason), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace bulkhead::frames
