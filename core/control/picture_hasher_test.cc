// SPDX-License-Identifier: Apache-2.0
#include "core/control/picture_hasher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

namespace bulkhead {
namespace {

constexpr uint32_t kWidth = 701;
constexpr uint32_t kHeight = 5;
constexpr size_t kRowBytes = 3 * kWidth;  // two blocks and some bytes
constexpr size_t kStride = 2176;

class PictureHashTest : public testing::Test {
 protected:
  PictureHashTest() {
    for (size_t i = 0; i < pixels_.size(); ++i) {
      pixels_[i] = static_cast<std::byte>(i * 131 >> 3);
    }
  }
  uint64_t Hash(uint64_t key = 7) const {
    return PictureHasher(key)(pixels_.data(), kWidth, kHeight, kRowBytes,
                              kStride);
  }

  std::vector<std::byte> pixels_ = std::vector<std::byte>(kStride * kHeight);
};

TEST_F(PictureHashTest, EveryByteOfAPictureCounts) {
  const uint64_t before = Hash();
  std::set<uint64_t> seen = {before};
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (size_t x = 0; x < kRowBytes; ++x) {
      std::byte& byte = pixels_[y * kStride + x];
      byte ^= std::byte{1};
      EXPECT_TRUE(seen.insert(Hash()).second) << x << ", " << y;
      byte ^= std::byte{1};
    }
  }
  EXPECT_EQ(Hash(), before);
}

TEST_F(PictureHashTest, TheBytesBehindARowDoNot) {
  const uint64_t before = Hash();
  pixels_[kRowBytes] ^= std::byte{1};
  EXPECT_EQ(Hash(), before);
}

TEST_F(PictureHashTest, RowsHaveAnOrderAndThePictureHasAShape) {
  const uint64_t before = Hash();
  EXPECT_NE(
      PictureHasher(7)(pixels_.data(), kWidth, kHeight - 1, kRowBytes, kStride),
      before);
  EXPECT_NE(
      PictureHasher(7)(pixels_.data(), kWidth - 1, kHeight, kRowBytes, kStride),
      before);
  std::swap_ranges(pixels_.begin(), pixels_.begin() + kRowBytes,
                   pixels_.begin() + kStride);
  EXPECT_NE(Hash(), before);
}

TEST_F(PictureHashTest, AnotherKeyGivesAnotherHash) {
  EXPECT_NE(Hash(7), Hash(8));
}

}  // namespace
}  // namespace bulkhead
