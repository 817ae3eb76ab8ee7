// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/y4m_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

namespace bulkhead::writers {
namespace {

std::string WriteAll(const Y4mWriter::Stream& stream,
                     const std::vector<std::byte>& pixels, int frames) {
  const std::string path = testing::TempDir() + "/y4m_writer.y4m";
  auto output = Output::Open(path).value();
  Y4mWriter writer(stream, *output);
  Picture picture;
  picture.pixels = pixels.data();
  picture.width = stream.width;
  picture.height = stream.height;
  picture.stride = 3 * stream.width;
  for (int i = 0; i < frames; ++i) {
    EXPECT_TRUE(writer.Write(picture).ok());
  }
  EXPECT_TRUE(writer.Finish().ok());
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(Y4mWriter, TheHeaderTellsSizeRateAndAspect) {
  EXPECT_EQ(WriteAll({5, 3, {30'000, 1001}, {4, 3}}, {}, 0),
            "YUV4MPEG2 W5 H3 F30000:1001 Ip A4:3 C444 XCOLORRANGE=LIMITED\n");
  EXPECT_EQ(WriteAll({5, 3, {}, {}}, {}, 0),
            "YUV4MPEG2 W5 H3 F25:1 Ip A0:0 C444 XCOLORRANGE=LIMITED\n");
}

TEST(Y4mWriter, EachFrameIsThreeWholePlanes) {
  const std::string file =
      WriteAll({2, 1, {25, 1}, {}},
               {std::byte{255}, std::byte{255}, std::byte{255}, std::byte{0},
                std::byte{0}, std::byte{0}},
               2);
  const std::string frame = "FRAME\n\xeb\x10\x80\x80\x80\x80";
  EXPECT_EQ(file.substr(file.find('\n') + 1), frame + frame);
}

TEST(Y4mWriter, TheWayBackLosesAFewStepsAtMost) {
  std::vector<std::byte> pixels;
  for (int color = 0; color < 16 * 16 * 16; ++color) {
    for (const int shift : {8, 4, 0}) {
      pixels.push_back(static_cast<std::byte>((color >> shift & 15) * 17));
    }
  }
  const size_t count = pixels.size() / 3;
  const std::string file =
      WriteAll({static_cast<uint32_t>(count), 1, {25, 1}, {}}, pixels, 1);
  const std::string planes = file.substr(file.find("FRAME\n") + 6);
  ASSERT_EQ(planes.size(), 3 * count);
  const auto at = [&](size_t i) {
    return static_cast<double>(static_cast<uint8_t>(planes[i]));
  };
  for (size_t i = 0; i < count; ++i) {
    const double y = 255.0 / 219 * (at(i) - 16);
    const double b = 255.0 / 224 * (at(count + i) - 128);
    const double r = 255.0 / 224 * (at(2 * count + i) - 128);
    const double rgb[3] = {y + 1.402 * r, y - 0.344136 * b - 0.714136 * r,
                           y + 1.772 * b};
    for (int c = 0; c < 3; ++c) {
      EXPECT_NEAR(std::clamp(rgb[c], 0.0, 255.0),
                  std::to_integer<int>(pixels[3 * i + c]), 3)
          << "color " << i << ", channel " << c;
    }
  }
}

}  // namespace
}  // namespace bulkhead::writers
