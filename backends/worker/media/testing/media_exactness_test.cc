// SPDX-License-Identifier: Apache-2.0
// Compares frames byte for byte with the ffmpeg command's on this machine. The
// decoding is in this process, so that sanitizers see it; samples are decoded
// in a worker's, by tests/media:equals_ffmpeg_test.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "backends/worker/media/testing/ffmpeg_reference.h"

namespace bulkhead::worker {
namespace {

struct Clip {
  std::string name;
  std::string arguments;  // the last word is the path, appended by the test
};

constexpr char kSource[] = "-f lavfi -i testsrc2=r=25:s=";

std::string From(const std::string& size, const std::string& encoding) {
  return kSource + size + " -frames:v 8 " + encoding;
}

const std::vector<Clip>& Clips() {
  static const auto& clips = *new std::vector<Clip>{
      {"h264.mp4", From("322x182", "-c:v libx264 -pix_fmt yuv420p")},
      {"h264_odd_444.mp4", From("61x43", "-c:v libx264 -pix_fmt yuv444p")},
      {"h264_10bit.mp4", From("62x44", "-c:v libx264 -pix_fmt yuv420p10le")},
      {"mpeg2_interlaced.mpg",
       From("720x576", "-vf interlace -c:v mpeg2video -flags +ildct+ilme")},
      {"mjpeg_full_range.avi", From("99x55", "-c:v mjpeg -pix_fmt yuvj422p")},
      {"png_rgb.mkv", From("371x55", "-c:v png -pix_fmt rgb24")},
      {"png_palette.mkv", From("99x55", "-c:v png -pix_fmt pal8")},
      {"qtrle.mov", From("99x55", "-c:v qtrle -pix_fmt rgb24")},
      {"bt709.mkv", From("101x57", "-c:v ffv1 -colorspace bt709")},
      {"bt2020_full.mkv", From("101x57",
                               "-c:v ffv1 -pix_fmt yuv422p10le -color_range "
                               "pc -colorspace bt2020nc")},
      {"alpha.mkv", From("101x57", "-c:v ffv1 -pix_fmt yuva420p")},
      {"vp9.webm", From("99x55", "-c:v libvpx-vp9 -speed 8")},
      {"animated.gif", From("99x55", "")},
  };
  return clips;
}

void ExpectSameAsFfmpeg(const std::string& path) {
  const auto expected = FfmpegHashes(path, "0:v:0");
  ASSERT_FALSE(expected.empty()) << path;
  const auto decoded = DecodeFile(path, -1);
  ASSERT_TRUE(decoded) << path << ": " << decoded.error().message;
  ASSERT_EQ(decoded->hashes.size(), expected.size()) << path;
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(decoded->hashes[i], expected[i]) << path << ", frame " << i;
  }
}

class GeneratedClip : public testing::TestWithParam<Clip> {};

TEST_P(GeneratedClip, DecodesAsFfmpegDoes) {
  if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  const std::string path = TemporaryPath(GetParam().name);
  if (!RunFfmpeg(GetParam().arguments + " '" + path + "'")) {
    GTEST_SKIP() << "this ffmpeg cannot encode " << GetParam().name;
  }
  ExpectSameAsFfmpeg(path);
}

TEST_P(GeneratedClip, DecodesAsFfmpegDoesAfterEachQuarterTurn) {
  if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  const std::string upright = TemporaryPath("upright_" + GetParam().name);
  if (!RunFfmpeg(GetParam().arguments + " '" + upright + "'")) {
    GTEST_SKIP() << "this ffmpeg cannot encode " << GetParam().name;
  }
  for (const char* turn : {"90", "180", "270"}) {
    const std::string turned =
        TemporaryPath(std::string(turn) + "_" + GetParam().name + ".mov");
    if (!RunFfmpeg("-i '" + upright +
                   "' -c copy -strict -1 -metadata:s:v:0 rotate=" + turn +
                   " '" + turned + "'")) {
      GTEST_SKIP() << "this codec cannot be put into a mov file";
    }
    ExpectSameAsFfmpeg(turned);
  }
}

INSTANTIATE_TEST_SUITE_P(Clips, GeneratedClip, testing::ValuesIn(Clips()),
                         [](const auto& info) {
                           return info.param.name.substr(
                               0, info.param.name.find('.'));
                         });

TEST(Exactness, ScalesToTheFirstSizeWhenTheSizeChanges) {
  if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  const std::string large = TemporaryPath("large.264");
  const std::string small = TemporaryPath("small.264");
  if (!RunFfmpeg(From("320x180", "-c:v libx264 '") + large + "'") ||
      !RunFfmpeg(From("200x120", "-c:v libx264 -pix_fmt yuv422p '") + small +
                 "'")) {
    GTEST_SKIP() << "this ffmpeg cannot encode H.264";
  }
  const std::string path = TemporaryPath("changing.264");
  std::ofstream out(path, std::ios::binary);
  for (const std::string& part : {large, small, large}) {
    out << std::ifstream(part, std::ios::binary).rdbuf();
  }
  out.close();
  ExpectSameAsFfmpeg(path);
}

TEST(Exactness, DeliversRgbPicturesWithoutACopy) {
  if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  const std::string path = TemporaryPath("in_place.mkv");
  ASSERT_TRUE(RunFfmpeg(From("371x55", "-c:v png '") + path + "'"));
  const auto decoded = DecodeFile(path, -1);
  ASSERT_TRUE(decoded) << decoded.error().message;
  // The first picture was decoded before the pool was attached.
  EXPECT_EQ(decoded->delivered_in_place, decoded->hashes.size() - 1);
}

}  // namespace
}  // namespace bulkhead::worker
