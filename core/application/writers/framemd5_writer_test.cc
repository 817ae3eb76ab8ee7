// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/framemd5_writer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "core/application/writers/rawvideo_writer.h"

namespace bulkhead::writers {
namespace {

constexpr uint32_t kWidth = 18;
constexpr uint32_t kHeight = 6;
constexpr uint32_t kStride = 64;
constexpr int kFrames = 3;

std::string TempPath(const std::string& name) {
  return testing::TempDir() + "/framemd5_writer." + name;
}

std::vector<std::string> ReadLines(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<std::byte> Draw(int frame) {
  std::vector<std::byte> pixels(kStride * kHeight, std::byte{0xee});
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < 3 * kWidth; ++x) {
      pixels[y * kStride + x] = static_cast<std::byte>(frame * 5 + x * 7 + y);
    }
  }
  return pixels;
}

template <typename Writer>
void WriteAll(Writer& writer) {
  for (int frame = 0; frame < kFrames; ++frame) {
    const std::vector<std::byte> pixels = Draw(frame);
    Picture picture;
    picture.pixels = pixels.data();
    picture.width = kWidth;
    picture.height = kHeight;
    picture.stride = kStride;
    picture.index = static_cast<uint64_t>(frame);
    picture.pts = frame;
    picture.duration = 1;
    ASSERT_TRUE(writer.Write(picture).ok());
  }
  ASSERT_TRUE(writer.Finish().ok());
}

Framemd5Writer::Stream TestStream() {
  Framemd5Writer::Stream stream;
  stream.width = kWidth;
  stream.height = kHeight;
  stream.time_base = {1, 25};
  return stream;
}

TEST(Framemd5Writer, LinesAreThoseOfFfmpeg) {
  if (std::system("ffmpeg -version > /dev/null 2>&1") != 0) {
    GTEST_SKIP() << "the ffmpeg program is not installed";
  }
  const std::string raw = TempPath("rgb");
  auto raw_output = Output::Open(raw).value();
  RawvideoWriter raw_writer(*raw_output);
  WriteAll(raw_writer);
  const std::string expected = TempPath("expected");
  ASSERT_EQ(std::system(("ffmpeg -v error -y -f rawvideo -pixel_format rgb24 "
                         "-video_size 18x6 -framerate 25 -i " +
                         raw + " -f framemd5 " + expected)
                            .c_str()),
            0);

  const std::string ours = TempPath("ours");
  auto output = Output::Open(ours).value();
  Framemd5Writer writer(TestStream(), *output);
  WriteAll(writer);

  std::vector<std::string> expected_lines = ReadLines(expected);
  for (std::string& line : expected_lines) {
    if (line.starts_with("#software: ")) line = "#software: bulkhead";
  }
  EXPECT_EQ(ReadLines(ours), expected_lines);
  EXPECT_EQ(expected_lines.size(), 10u + kFrames);
}

TEST(Framemd5Writer, MissingTimestampIsTheNumberFfmpegPrints) {
  const std::string path = TempPath("nopts");
  auto output = Output::Open(path).value();
  Framemd5Writer writer(TestStream(), *output);
  const std::vector<std::byte> pixels = Draw(0);
  Picture picture;
  picture.pixels = pixels.data();
  picture.width = kWidth;
  picture.height = kHeight;
  picture.stride = kStride;
  ASSERT_TRUE(writer.Write(picture).ok());
  ASSERT_TRUE(writer.Finish().ok());
  EXPECT_TRUE(ReadLines(path).back().starts_with(
      "0, -9223372036854775808, -9223372036854775808,        0,      324, "));
}

TEST(Framemd5Writer, NoFramesStillMakeAHeader) {
  const std::string path = TempPath("empty");
  auto output = Output::Open(path).value();
  Framemd5Writer writer(TestStream(), *output);
  ASSERT_TRUE(writer.Finish().ok());
  EXPECT_EQ(ReadLines(path).size(), 10u);
}

}  // namespace
}  // namespace bulkhead::writers
