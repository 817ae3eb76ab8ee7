// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/contact_sheet.h"

#include <gtest/gtest.h>

namespace bulkhead::writers {
namespace {

Picture SquareOf(const std::vector<std::byte>& pixels, uint32_t side) {
  Picture picture;
  picture.pixels = pixels.data();
  picture.width = picture.height = side;
  picture.stride = 3 * side;
  return picture;
}

int Red(const Picture& picture, uint32_t x, uint32_t y) {
  return static_cast<int>(picture.row(y)[3 * x]);
}

TEST(ContactSheet, CellsHoldTheAverageInsideTheirBorder) {
  // 8 x 8: left half black, right half white.
  std::vector<std::byte> pixels(8 * 8 * 3, std::byte{0});
  for (size_t y = 0; y < 8; ++y) {
    for (size_t x = 4 * 3; x < 8 * 3; ++x) pixels[y * 24 + x] = std::byte{200};
  }
  ContactSheet sheet(3, 2, 4, 8, 8);
  sheet.Place(1, SquareOf(pixels, 8), {255, 1, 2});

  // Two columns and two rows of 4 + 2 * 4 with gaps of 4.
  const Picture drawn = sheet.picture();
  EXPECT_EQ(drawn.width, 36u);
  EXPECT_EQ(drawn.height, 36u);
  EXPECT_EQ(Red(drawn, 5, 5), 0x18);
  EXPECT_EQ(Red(drawn, 20, 4), 255);
  EXPECT_EQ(Red(drawn, 24, 8), 0);
  EXPECT_EQ(Red(drawn, 27, 11), 200);
  EXPECT_EQ(Red(drawn, 28, 11), 255);
  EXPECT_EQ(Red(drawn, 32, 11), 0x18);
}

TEST(ContactSheet, ATimeIsDrawnIntoTheLowerLeftCorner) {
  const std::vector<std::byte> pixels(40 * 40 * 3, std::byte{100});
  ContactSheet sheet(1, 1, 40, 40, 40);
  sheet.Place(0, SquareOf(pixels, 40), {0, 0, 0});
  sheet.Caption(0, "1");
  const Picture drawn = sheet.picture();
  // The cell begins at 8, 8; the caption is 14 high and its "1", of
  //   .#.
  //   ##.
  //   .#.
  //   .#.
  //   ###
  // two pixels to one, begins at 10, 36.
  EXPECT_EQ(Red(drawn, 8, 33), 100);
  EXPECT_EQ(Red(drawn, 8, 34), 0x18);
  EXPECT_EQ(Red(drawn, 10, 36), 0x18);
  EXPECT_EQ(Red(drawn, 12, 36), 0xf0);
  EXPECT_EQ(Red(drawn, 14, 36), 0x18);
  EXPECT_EQ(Red(drawn, 10, 45), 0xf0);
  EXPECT_EQ(Red(drawn, 15, 45), 0xf0);
  EXPECT_EQ(Red(drawn, 17, 47), 0x18);
  EXPECT_EQ(Red(drawn, 18, 47), 100);
}

TEST(ContactSheet, WhatDoesNotFitIsLeftOut) {
  ContactSheet narrow(1, 1, 12, 40, 400);
  narrow.Caption(0, "1:23.45");
  ContactSheet flat(1, 1, 40, 400, 40);
  flat.Caption(0, "1:23.45");
  const Picture drawn = flat.picture();
  EXPECT_EQ(Red(drawn, 10, drawn.height - 5), 0x18);
}

TEST(ContactSheet, PicturesSmallerThanACellAreEnlarged) {
  const std::vector<std::byte> pixels(2 * 2 * 3, std::byte{9});
  ContactSheet sheet(1, 1, 5, 2, 2);
  sheet.Place(0, SquareOf(pixels, 2), {0, 0, 0});
  EXPECT_EQ(Red(sheet.picture(), 10, 10), 9);
}

}  // namespace
}  // namespace bulkhead::writers
