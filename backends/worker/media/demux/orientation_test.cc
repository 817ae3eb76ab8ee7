// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/orientation.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace bulkhead::worker::demux {
namespace {

Orientation Of(int a, int b, int c, int d) {
  constexpr int kOne = 1 << 16;
  const std::array<int32_t, 9> matrix = {
      a * kOne, b * kOne, 0, c * kOne, d * kOne, 0, 0, 0, 1 << 30};
  return OrientationFromDisplayMatrix(matrix.data());
}

TEST(Orientation, NoMatrixAndTheIdentityTurnNothing) {
  EXPECT_TRUE(OrientationFromDisplayMatrix(nullptr).IsIdentity());
  EXPECT_TRUE(Of(1, 0, 0, 1).IsIdentity());
}

TEST(Orientation, QuarterTurnsTranspose) {
  EXPECT_TRUE(Of(0, 1, -1, 0).transpose);
  EXPECT_EQ(Of(0, 1, -1, 0).degrees, 270);
  EXPECT_TRUE(Of(0, -1, 1, 0).transpose);
  EXPECT_EQ(Of(0, -1, 1, 0).degrees, 90);
}

TEST(Orientation, HalfTurnFlipsBothWays) {
  const Orientation half = Of(-1, 0, 0, -1);
  EXPECT_TRUE(half.flip_horizontally);
  EXPECT_TRUE(half.flip_vertically);
  EXPECT_EQ(half.degrees, 180);
}

TEST(Orientation, MirrorsAreFlips) {
  EXPECT_TRUE(Of(-1, 0, 0, 1).flip_horizontally);
  EXPECT_FALSE(Of(-1, 0, 0, 1).flip_vertically);
  EXPECT_TRUE(Of(1, 0, 0, -1).flip_vertically);
  EXPECT_FALSE(Of(1, 0, 0, -1).flip_horizontally);
}

// The two steps are those that turn a picture as the flips and transpositions
// of the ffmpeg command do; tests/semantics compares the pictures.
TEST(Orientation, MirrorsAreAVerticalFlipAndAnAngle) {
  const auto steps = [](const Orientation& orientation) {
    return std::pair(orientation.vertical_flip, orientation.degrees);
  };
  EXPECT_EQ(steps(Of(1, 0, 0, -1)), std::pair(true, 0));
  EXPECT_EQ(steps(Of(-1, 0, 0, 1)), std::pair(true, 180));
  EXPECT_EQ(steps(Of(0, 1, 1, 0)), std::pair(true, 270));
  EXPECT_EQ(steps(Of(0, -1, -1, 0)), std::pair(true, 90));
  EXPECT_EQ(steps(Of(0, 1, -1, 0)), std::pair(false, 270));
  EXPECT_EQ(steps(Of(-1, 0, 0, -1)), std::pair(false, 180));
}

TEST(Orientation, SingularAndOddMatricesTurnNothing) {
  EXPECT_TRUE(Of(0, 0, 0, 0).IsIdentity());
  EXPECT_TRUE(Of(1, 1, -1, 1).IsIdentity());  // 45 degrees
}

}  // namespace
}  // namespace bulkhead::worker::demux
