// SPDX-License-Identifier: Apache-2.0
// Compares converted and transformed pictures byte for byte with the output of
// the ffmpeg command on this machine.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "backends/worker/media/convert/output_converter.h"
#include "backends/worker/media/convert/transform.h"
#include "backends/worker/media/testing/ffmpeg_reference.h"
#include "ipc/frame_geometry.h"

namespace bulkhead::worker::convert {
namespace {

constexpr char kFlags[] = "+full_chroma_int+full_chroma_inp+accurate_rnd";

struct Clip {
  std::string name;
  std::string encoding;
};

const std::vector<Clip>& Clips() {
  static const auto& clips = *new std::vector<Clip>{
      {"h264.mp4", "-c:v libx264 -pix_fmt yuv420p"},
      {"bt709_full.mkv", "-c:v ffv1 -color_range pc -colorspace bt709"},
      {"bt2020_10bit.mkv",
       "-c:v ffv1 -pix_fmt yuv422p10le -colorspace bt2020nc"},
      {"h264_10bit.mp4", "-c:v libx264 -pix_fmt yuv420p10le"},
      {"yuv444_12bit.mkv", "-c:v ffv1 -pix_fmt yuv444p12le"},
      {"png.mkv", "-c:v png -pix_fmt rgb24"},
      {"png_48.mkv", "-c:v png -pix_fmt rgb48be"},
      {"gray.mkv", "-c:v ffv1 -pix_fmt gray"},
  };
  return clips;
}

class Output : public testing::TestWithParam<Clip> {
 protected:
  void SetUp() override {
    if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
    path_ = TemporaryPath(GetParam().name);
    if (!RunFfmpeg("-f lavfi -i testsrc2=r=25:s=322x182 -frames:v 4 " +
                   GetParam().encoding + " '" + path_ + "'")) {
      GTEST_SKIP() << "this ffmpeg cannot encode " << GetParam().name;
    }
  }

  void ExpectSame(const OutputFormat& format, const std::string& pixel_format,
                  const std::string& filters) {
    const auto expected = FfmpegHashes(path_, "0:v:0", pixel_format, filters);
    ASSERT_EQ(expected.size(), 4u) << filters;
    const auto decoded = DecodeFile(path_, -1, format);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->hashes, expected) << pixel_format << " " << filters;
  }

  // Converts to bytes and to floats.
  void ExpectBoth(const std::vector<Transform>& transforms,
                  const std::string& filters) {
    ExpectSame({ipc::ElementType::kUint8, transforms}, "rgb24",
               "format=rgb24," + filters);
    ExpectSame({ipc::ElementType::kFloat32, transforms}, "rgb48le",
               "format=rgb48le," + filters);
  }

  std::string path_;
};

TEST_P(Output, FloatsAreThe16BitNumbersOfFfmpeg) {
  ExpectSame({ipc::ElementType::kFloat32, {}}, "rgb48le", "");
}

TEST_P(Output, TheElementIsChosenByTheDepthOfTheStream) {
  const std::string name = GetParam().name;
  const bool deep = name.find("10bit") != std::string::npos ||
                    name.find("12bit") != std::string::npos ||
                    name.find("48") != std::string::npos;
  ExpectSame({std::nullopt, {}}, deep ? "rgb48le" : "rgb24", "");
}

TEST_P(Output, ResizesAsTheScaleFilter) {
  ExpectBoth({Resize{{100, 75}}},
             std::string("scale=100:75:flags=bilinear") + kFlags);
  ExpectBoth({Resize{{401, 303}}},
             std::string("scale=401:303:flags=bilinear") + kFlags);
}

TEST_P(Output, ResizesWithEachFilter) {
  using Filter = Resize::Filter;
  for (const auto& [filter, name] : std::vector<std::pair<Filter, std::string>>{
           {Filter::kNearest, "neighbor"},
           {Filter::kBicubic, "bicubic"},
           {Filter::kArea, "area"},
           {Filter::kLanczos, "lanczos"}}) {
    ExpectBoth({Resize{{111, 97}, filter}},
               "scale=111:97:flags=" + name + kFlags);
  }
}

TEST_P(Output, CropsAsTheCropFilter) {
  ExpectBoth({Crop{{101, 55}, 13, 7}}, "crop=101:55:13:7:exact=1");
  ExpectBoth({CenterCrop{{100, 60}}}, "crop=100:60:111:61:exact=1");
}

TEST_P(Output, AppliesTransformsInOrder) {
  ExpectBoth(
      {Crop{{201, 155}, 13, 7}, Resize{{64, 48}}, CenterCrop{{31, 17}}},
      std::string("crop=201:155:13:7:exact=1,scale=64:48:flags=bilinear") +
          kFlags + ",crop=31:17:16:15:exact=1");
  ExpectBoth({Resize{{64, 48}}, Resize{{322, 182}}},
             std::string("scale=64:48:flags=bilinear") + kFlags +
                 ",scale=322:182:flags=bilinear" + kFlags);
}

TEST_P(Output, ResizingToTheSameSizeChangesNothing) {
  ExpectSame({ipc::ElementType::kUint8, {Resize{{322, 182}}}}, "rgb24", "");
}

TEST_P(Output, TransformsComeAfterRotation) {
  const std::string turned =
      TemporaryPath("turned_" + GetParam().name + ".mov");
  if (!RunFfmpeg("-i '" + path_ +
                 "' -c copy -strict -1 -metadata:s:v:0 rotate=90 '" + turned +
                 "'")) {
    GTEST_SKIP() << "this codec cannot be put into a mov file";
  }
  path_ = turned;
  // With filters ffmpeg converts some formats before it rotates, so the
  // reference is made without filters.
  ExpectSame({ipc::ElementType::kUint8, {CenterCrop{{182, 322}}}}, "rgb24", "");
  ExpectSame({ipc::ElementType::kFloat32, {CenterCrop{{182, 322}}}}, "rgb48le",
             "");
}

INSTANTIATE_TEST_SUITE_P(Clips, Output, testing::ValuesIn(Clips()),
                         [](const auto& info) {
                           return info.param.name.substr(
                               0, info.param.name.find('.'));
                         });

}  // namespace
}  // namespace bulkhead::worker::convert
