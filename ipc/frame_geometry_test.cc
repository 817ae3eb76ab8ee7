// SPDX-License-Identifier: Apache-2.0
#include "ipc/frame_geometry.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "ipc/pixel_layout.h"

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

TEST(NativeGeometryTest, PlanesAreSubsampledAndApart) {
  const auto layout = FindPixelLayout("yuva420p10le");
  ASSERT_TRUE(layout);
  const auto geometry = NativeGeometry(*layout, 35, 5, kNoLimit);
  ASSERT_TRUE(geometry);
  ASSERT_EQ(geometry->plane_count, 4u);
  const uint32_t row_bytes[] = {70, 36, 36, 70};
  const uint32_t rows[] = {5, 3, 3, 5};
  uint64_t end = 0;
  for (size_t i = 0; i < 4; ++i) {
    const PlaneGeometry& plane = geometry->planes[i];
    EXPECT_EQ(plane.row_bytes, row_bytes[i]) << i;
    EXPECT_EQ(plane.rows, rows[i]) << i;
    EXPECT_EQ(plane.offset, end) << i;
    EXPECT_EQ(plane.offset % 64, 0u) << i;
    EXPECT_EQ(plane.stride % 64, 0u) << i;
    EXPECT_GE(plane.bytes, uint64_t{plane.stride} * plane.rows) << i;
    end = plane.offset + plane.bytes;
  }
  EXPECT_LE(end, geometry->bytes);
  EXPECT_EQ(geometry->stride, geometry->planes[0].stride);
}

TEST(NativeGeometryTest, InterleavedChromaHasTwoSamplesAnElement) {
  const auto geometry =
      NativeGeometry(*FindPixelLayout("nv12"), 33, 4, kNoLimit);
  ASSERT_TRUE(geometry);
  EXPECT_EQ(geometry->plane_count, 2u);
  EXPECT_EQ(geometry->planes[1].row_bytes, 34u);
  EXPECT_EQ(geometry->planes[1].rows, 2u);
}

TEST(NativeGeometryTest, APaletteIsOneRow) {
  const auto geometry =
      NativeGeometry(*FindPixelLayout("pal8"), 7, 300, kNoLimit);
  ASSERT_TRUE(geometry);
  EXPECT_EQ(geometry->plane_count, 2u);
  EXPECT_EQ(geometry->planes[1].row_bytes, 1024u);
  EXPECT_EQ(geometry->planes[1].rows, 1u);
}

TEST(NativeGeometryTest, ExtremesNeitherOverflowNorPass) {
  for (const char* name : {"yuv420p", "monob", "gbrapf32le", "rgba64be"}) {
    for (const uint32_t width : {1u, 0x7FFFFFFu, 0x7FFFFFFFu, UINT32_MAX}) {
      for (const uint32_t height : {1u, 0x7FFFFFFFu, UINT32_MAX}) {
        const auto geometry =
            NativeGeometry(*FindPixelLayout(name), width, height, kNoLimit);
        if (!geometry) {
          EXPECT_EQ(geometry.error().code, Code::kResourceExhausted);
          continue;
        }
        for (size_t i = 0; i < geometry->plane_count; ++i) {
          const PlaneGeometry& plane = geometry->planes[i];
          EXPECT_GE(plane.stride, plane.row_bytes);
          EXPECT_GE(plane.bytes / plane.stride, plane.rows);
          EXPECT_LE(plane.offset + plane.bytes, geometry->bytes);
        }
      }
    }
  }
  const auto layout = FindPixelLayout("gray");
  EXPECT_EQ(NativeGeometry(*layout, 100, 101, 10'000).error().code,
            Code::kResourceExhausted);
  EXPECT_EQ(NativeGeometry(*layout, 0, 1, 10'000).error().code,
            Code::kBadInput);
}

TEST(PixelLayoutTest, OnlyWholeNamesAreKnown) {
  EXPECT_TRUE(FindPixelLayout("gray"));
  EXPECT_TRUE(FindPixelLayout("gray16be")->big_endian);
  EXPECT_FALSE(FindPixelLayout("gray16le")->big_endian);
  EXPECT_TRUE(FindPixelLayout("grayf32le")->floats);
  for (const char* unknown :
       {"", "le", "be", "gray16", "grayle", "yuv420", "gray gray10", " ",
        "yuv420p ", "vaapi", "cuda"}) {
    EXPECT_FALSE(FindPixelLayout(unknown)) << unknown;
  }
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
