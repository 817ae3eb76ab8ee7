// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/verify/picture_difference.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

namespace bulkhead::cli::verify {
namespace {

constexpr uint32_t kWidth = 5;
constexpr uint32_t kHeight = 3;

class CompareTest : public testing::Test {
 protected:
  // A picture whose rows have padding, which is no part of it.
  static writers::Picture View(std::vector<std::byte>& bytes, uint32_t stride) {
    bytes.resize(size_t{stride} * kHeight);
    return {.pixels = bytes.data(),
            .width = kWidth,
            .height = kHeight,
            .stride = stride};
  }

  std::vector<std::byte> first_;
  std::vector<std::byte> second_;
  const writers::Picture a_ = View(first_, 15);
  const writers::Picture b_ = View(second_, 16);
};

TEST_F(CompareTest, EqualPicturesHaveNoDifference) {
  second_[15] = std::byte{9};  // after a row
  const PictureDifference difference = Compare(a_, b_);
  EXPECT_TRUE(difference.none());
  EXPECT_FALSE(difference.psnr);
}

TEST_F(CompareTest, OneBitIsFound) {
  second_[16 * 2 + 14] = std::byte{1};
  const PictureDifference difference = Compare(a_, b_);
  EXPECT_FALSE(difference.none());
  EXPECT_EQ(difference.numbers, 1u);
  EXPECT_EQ(difference.of, 45u);
  // 10 * log10(255 * 255 * 45)
  EXPECT_NEAR(*difference.psnr, 64.66, 0.01);
}

TEST_F(CompareTest, TheOppositeOfAPictureIsAsFarAwayAsCanBe) {
  std::fill(second_.begin(), second_.end(), std::byte{255});
  const PictureDifference difference = Compare(a_, b_);
  EXPECT_EQ(difference.numbers, 45u);
  EXPECT_NEAR(*difference.psnr, 0, 1e-9);
}

TEST_F(CompareTest, FloatsDifferByTheirNumbers) {
  std::vector<float> first(size_t{kWidth} * kHeight * 3);
  std::vector<float> second = first;
  second[44] = 1.0F / 65535;
  const auto view = [](const std::vector<float>& numbers) {
    return writers::Picture{.pixels = std::as_bytes(std::span(numbers)).data(),
                            .width = kWidth,
                            .height = kHeight,
                            .stride = kWidth * 3 * sizeof(float),
                            .dtype = Dtype::kFloat32};
  };
  EXPECT_TRUE(Compare(view(first), view(first)).none());
  const PictureDifference difference = Compare(view(first), view(second));
  EXPECT_EQ(difference.numbers, 1u);
  EXPECT_EQ(difference.of, 45u);
  // 10 * log10(65535 * 65535 * 45)
  EXPECT_NEAR(*difference.psnr, 112.86, 0.01);
}

TEST_F(CompareTest, PicturesOfDifferentSizesAreNotCompared) {
  writers::Picture narrow = b_;
  narrow.width = 4;
  EXPECT_TRUE(Compare(a_, narrow).sizes);
  EXPECT_FALSE(Compare(a_, narrow).none());
}

}  // namespace
}  // namespace bulkhead::cli::verify
