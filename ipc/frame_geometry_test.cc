// SPDX-License-Identifier: Apache-2.0
#include "ipc/frame_geometry.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace bulkhead::ipc {
namespace {

constexpr uint64_t kNoLimit = UINT64_MAX;

TEST(RgbGeometryTest, RowsArePaddedForTheConverter) {
  const auto geometry = RgbGeometry(854, 480, kNoLimit);
  ASSERT_TRUE(geometry);
  EXPECT_EQ(geometry->width, 854u);
  EXPECT_EQ(geometry->height, 480u);
  EXPECT_EQ(geometry->stride, 2624u);  // align64(3 * 864)
  EXPECT_EQ(geometry->bytes % 4096, 0u);
  EXPECT_GE(geometry->bytes, 2624u * 480 + 64);
}

TEST(RgbGeometryTest, EverySmallSizeKeepsItsInvariants) {
  for (uint32_t width = 1; width <= 130; ++width) {
    const auto geometry = RgbGeometry(width, 3, kNoLimit);
    ASSERT_TRUE(geometry);
    EXPECT_EQ(geometry->stride % 64, 0u);
    EXPECT_GE(geometry->stride, 3 * ((width + 15) / 16 * 16));
    EXPECT_TRUE(ValidatePublished(width, 3, geometry->stride, geometry->bytes));
  }
}

TEST(RgbGeometryTest, FloatsTakeFourTimesTheRoom) {
  const auto geometry = RgbGeometry(854, 480, kNoLimit, ElementType::kFloat32);
  ASSERT_TRUE(geometry);
  EXPECT_EQ(geometry->stride, 12u * 864);
  EXPECT_GE(geometry->bytes, uint64_t{geometry->stride} * 480);
  EXPECT_TRUE(ValidatePublished(854, 480, geometry->stride, geometry->bytes,
                                ElementType::kFloat32));
}

TEST(RgbGeometryTest, AnEmptyPictureIsBadInput) {
  EXPECT_EQ(RgbGeometry(0, 10, kNoLimit).error().code, Code::kBadInput);
  EXPECT_EQ(RgbGeometry(10, 0, kNoLimit).error().code, Code::kBadInput);
}

TEST(RgbGeometryTest, TheLimitOfPixelsIsInclusive) {
  EXPECT_TRUE(RgbGeometry(100, 100, 10'000));
  EXPECT_EQ(RgbGeometry(100, 101, 10'000).error().code,
            Code::kResourceExhausted);
}

TEST(RgbGeometryTest, ExtremesNeitherOverflowNorPass) {
  for (const uint32_t width : {1u, 0x2AAAAAAAu, 0x7FFFFFFFu, UINT32_MAX}) {
    for (const uint32_t height : {1u, 0x7FFFFFFFu, UINT32_MAX}) {
      const auto geometry = RgbGeometry(width, height, kNoLimit);
      if (!geometry) {
        EXPECT_EQ(geometry.error().code, Code::kResourceExhausted);
        continue;
      }
      EXPECT_GE(geometry->stride, uint64_t{3} * width);
      EXPECT_GE(geometry->bytes / geometry->stride, height);
    }
  }
  EXPECT_FALSE(RgbGeometry(UINT32_MAX, 1, kNoLimit));
  EXPECT_FALSE(RgbGeometry(1, UINT32_MAX, kNoLimit));
}

TEST(ValidatePublishedTest, APictureMustLieInItsSlot) {
  EXPECT_TRUE(ValidatePublished(16, 16, 64, 1024));
  EXPECT_FALSE(ValidatePublished(16, 17, 64, 1024));
  EXPECT_FALSE(ValidatePublished(16, 16, 65, 1024));
}

TEST(ValidatePublishedTest, ARowMustHoldItsPixels) {
  EXPECT_TRUE(ValidatePublished(16, 1, 48, 4096));
  EXPECT_FALSE(ValidatePublished(16, 1, 47, 4096));
  // 3 * width would be 2 in 32 bits.
  EXPECT_FALSE(ValidatePublished(0x55555556, 1, 64, 4096));
}

TEST(ValidatePublishedTest, ARowOfFloatsBeginsWhereAFloatMay) {
  const auto valid = [](uint32_t stride) {
    return ValidatePublished(16, 2, stride, 4096, ElementType::kFloat32)
        .has_value();
  };
  EXPECT_TRUE(valid(192));
  EXPECT_TRUE(valid(196));
  EXPECT_FALSE(valid(191));
  EXPECT_FALSE(valid(194));
  EXPECT_FALSE(
      ValidatePublished(0x15555556, 1, 64, 4096, ElementType::kFloat32));
}

TEST(ValidatePublishedTest, ZeroAndHugeValuesAreMisbehaviour) {
  for (const auto& refused :
       {ValidatePublished(0, 1, 64, 4096), ValidatePublished(1, 0, 64, 4096),
        ValidatePublished(1, 1, 0, 4096),
        ValidatePublished(1, UINT32_MAX, UINT32_MAX, 4096)}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kBackendMisbehaved);
  }
}

}  // namespace
}  // namespace bulkhead::ipc
