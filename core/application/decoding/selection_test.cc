// SPDX-License-Identifier: Apache-2.0
#include "core/application/decoding/selection.h"

#include <gtest/gtest.h>

#include <limits>

namespace bulkhead::decoding {
namespace {

std::vector<uint64_t> Frames(std::string_view text, uint64_t count) {
  const FrameRange range = ParseSlice(text).value().Resolve(count);
  std::vector<uint64_t> frames;
  for (uint64_t i = 0; i < range.size; ++i) frames.push_back(range.at(i));
  return frames;
}

using Indices = std::vector<uint64_t>;

TEST(Slice, EndIsExclusive) {
  EXPECT_EQ(Frames("2:5", 10), (Indices{2, 3, 4}));
}

TEST(Slice, MissingBoundsAreTheEndsOfTheStream) {
  EXPECT_EQ(Frames(":", 3), (Indices{0, 1, 2}));
  EXPECT_EQ(Frames("::", 3), (Indices{0, 1, 2}));
  EXPECT_EQ(Frames(":2", 3), (Indices{0, 1}));
  EXPECT_EQ(Frames("1:", 3), (Indices{1, 2}));
}

TEST(Slice, NegativesCountFromTheEnd) {
  EXPECT_EQ(Frames("-2:", 10), (Indices{8, 9}));
  EXPECT_EQ(Frames(":-7", 10), (Indices{0, 1, 2}));
  EXPECT_EQ(Frames("-3:-1", 10), (Indices{7, 8}));
}

TEST(Slice, BoundsAreClipped) {
  EXPECT_EQ(Frames("-99:99", 2), (Indices{0, 1}));
  EXPECT_EQ(Frames("5:9", 2), Indices{});
  EXPECT_EQ(Frames("3:1", 9), Indices{});
  EXPECT_EQ(Frames(":", 0), Indices{});
}

TEST(Slice, StepSkips) {
  EXPECT_EQ(Frames("::4", 10), (Indices{0, 4, 8}));
  EXPECT_EQ(Frames("1:9:4", 10), (Indices{1, 5}));
  EXPECT_EQ(Frames("1:10:4", 10), (Indices{1, 5, 9}));
}

TEST(Slice, ExtremesDoNotOverflow) {
  EXPECT_EQ(Frames("-9223372036854775808:9223372036854775807", 2),
            (Indices{0, 1}));
  EXPECT_EQ(Frames("0:9:9223372036854775807", 9), Indices{0});
}

TEST(Slice, RefusesWhatIsNotASlice) {
  for (const char* text : {"", "5", "a:b", "1:2:3:4", "1:2:0", "1:2:-1",
                           "1.5:2", "1 :2", "9223372036854775808:"}) {
    const Result<Slice> slice = ParseSlice(text);
    ASSERT_FALSE(slice) << text;
    EXPECT_EQ(slice.error().code(), Code::kInvalidArgument);
  }
}

TEST(Indices, KeepOrderAndDuplicates) {
  EXPECT_EQ(ParseIndices("5,0,5,-1").value(),
            (std::vector<int64_t>{5, 0, 5, -1}));
}

TEST(Indices, RefusesGaps) {
  for (const char* text : {"", ",", "1,", ",1", "1,,2", "one", "1;2"}) {
    EXPECT_FALSE(ParseIndices(text)) << text;
  }
}

TEST(ResolveIndex, KnowsTheEnds) {
  EXPECT_EQ(ResolveIndex(0, 3).value(), 0u);
  EXPECT_EQ(ResolveIndex(2, 3).value(), 2u);
  EXPECT_EQ(ResolveIndex(-1, 3).value(), 2u);
  EXPECT_EQ(ResolveIndex(-3, 3).value(), 0u);
  const int64_t lowest = std::numeric_limits<int64_t>::min();
  for (int64_t index : {int64_t{3}, int64_t{-4}, lowest}) {
    const Result<uint64_t> resolved = ResolveIndex(index, 3);
    ASSERT_FALSE(resolved) << index;
    EXPECT_EQ(resolved.error().code(), Code::kOutOfRange);
  }
  EXPECT_FALSE(ResolveIndex(0, 0));
  EXPECT_FALSE(ResolveIndex(-1, 0));
}

}  // namespace
}  // namespace bulkhead::decoding
