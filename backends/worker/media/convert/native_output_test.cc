// SPDX-License-Identifier: Apache-2.0
// Compares native pictures byte for byte with what the ffmpeg command on this
// machine writes as raw video, and the layouts of pixel formats with
// libavutil's.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "backends/worker/media/convert/output_converter.h"
#include "backends/worker/media/testing/ffmpeg_reference.h"
#include "ipc/frame_geometry.h"
#include "ipc/pixel_layout.h"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

namespace bulkhead::worker::convert {
namespace {

constexpr size_t kFrames = 12;

OutputFormat Native(bool in_place = true) {
  OutputFormat format;
  format.native = {.known_format = {}, .in_place = in_place};
  return format;
}

struct Clip {
  std::string name;
  std::string size;
  std::string encoding;
  // The decoder takes the runtime's buffers, so that no picture is copied but
  // those that it began before there were slots.
  bool in_place = false;
};

const std::vector<Clip>& Clips() {
  static const auto& clips = *new std::vector<Clip>{
      {"h264.mp4", "322x182", "-c:v libx264 -pix_fmt yuv420p", true},
      {"h264_422_10.mkv", "322x182", "-c:v libx264 -pix_fmt yuv422p10le", true},
      {"h264_444.mkv", "321x181", "-c:v libx264 -pix_fmt yuv444p", true},
      {"h264_gray.mkv", "322x182", "-c:v libx264 -pix_fmt gray", true},
      {"h264_nv12.mp4", "64x64", "-c:v libx264 -pix_fmt nv12", true},
      {"hevc_12.mkv", "322x182",
       "-c:v libx265 -x265-params log-level=none -pix_fmt yuv420p12le", true},
      {"hevc_gray10.mkv", "322x182",
       "-c:v libx265 -x265-params log-level=none -pix_fmt gray10le", true},
      {"vp9.webm", "322x182", "-c:v libvpx-vp9 -deadline realtime", true},
      {"vp8.webm", "322x182", "-c:v libvpx -deadline realtime", true},
      {"mpeg4.avi", "322x182", "-c:v mpeg4", true},
      {"mpeg2.ts", "322x182", "-c:v mpeg2video -flags +ilme+ildct", true},
      {"mjpeg.avi", "321x181", "-c:v mjpeg -pix_fmt yuvj444p", true},
      {"ffv1_410.mkv", "321x181", "-c:v ffv1 -pix_fmt yuv410p", true},
      {"ffv1_411.mkv", "321x181", "-c:v ffv1 -pix_fmt yuv411p", true},
      {"ffv1_440.mkv", "321x181", "-c:v ffv1 -pix_fmt yuv440p", true},
      {"ffv1_alpha.mkv", "321x181", "-c:v ffv1 -pix_fmt yuva420p", true},
      {"ffv1_alpha16.mkv", "33x17", "-c:v ffv1 -pix_fmt yuva444p16le", true},
      {"ffv1_gbrp14.mkv", "33x17", "-c:v ffv1 -pix_fmt gbrp14le", true},
      {"ffv1_gray16.mkv", "33x17", "-c:v ffv1 -pix_fmt gray16le", true},
      {"ffv1_bgra.mkv", "321x181", "-c:v ffv1 -pix_fmt bgra", true},
      {"prores_alpha.mov", "322x182",
       "-c:v prores_ks -profile:v 4 -pix_fmt yuva444p10le", true},
      {"png_gray16.mkv", "33x17", "-c:v png -pix_fmt gray16be", true},
      {"png_ya8.mkv", "33x17", "-c:v png -pix_fmt ya8", true},
      {"png_rgb48.mkv", "33x17", "-c:v png -pix_fmt rgb48be", true},
      {"png_mono.mkv", "33x17", "-c:v png -pix_fmt monob"},
      {"png_pal8.mkv", "33x17", "-c:v png -pix_fmt pal8"},
      {"gif.gif", "33x17", "-c:v gif"},
      {"raw_nv12.nut", "34x18", "-c:v rawvideo -pix_fmt nv12"},
      {"raw_p010.nut", "34x18", "-c:v rawvideo -pix_fmt p010le"},
      {"raw_yuyv.nut", "33x17", "-c:v rawvideo -pix_fmt yuyv422"},
      {"raw_rgb565.nut", "33x17", "-c:v rawvideo -pix_fmt rgb565le"},
      {"raw_bgr4.nut", "34x18", "-c:v rawvideo -pix_fmt bgr4"},
      {"raw_floats.nut", "33x17", "-c:v rawvideo -pix_fmt grayf32le"},
      {"few_pixels.mkv", "3x2", "-c:v ffv1 -pix_fmt yuv420p", true},
      {"turned.mp4", "64x48",
       "-c:v libx264 -pix_fmt yuv420p -metadata:s:v rotate=90", true},
  };
  return clips;
}

class NativeOutput : public testing::TestWithParam<Clip> {
 protected:
  void SetUp() override {
    if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
    path_ = TemporaryPath(GetParam().name);
    if (!RunFfmpeg("-f lavfi -i testsrc=r=25:s=" + GetParam().size +
                   " -frames:v " + std::to_string(kFrames) + " " +
                   GetParam().encoding + " '" + path_ + "'")) {
      GTEST_SKIP() << "this ffmpeg cannot encode " << GetParam().name;
    }
    expected_ = FfmpegHashes(path_, "0:v:0", "");
    ASSERT_EQ(expected_.size(), kFrames);
  }

  std::string path_;
  std::vector<std::string> expected_;
};

TEST_P(NativeOutput, EqualsTheRawVideoOfFfmpeg) {
  const auto decoded = DecodeFile(path_, -1, Native());
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->hashes, expected_);
  // Decoders have begun at most four pictures when the first one is shown.
  EXPECT_GE(decoded->delivered_in_place, GetParam().in_place ? kFrames - 5 : 0);

  const auto copied = DecodeFile(path_, -1, Native(/*in_place=*/false));
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_EQ(copied->hashes, expected_);
  EXPECT_EQ(copied->delivered_in_place, 0u);
}

INSTANTIATE_TEST_SUITE_P(Clips, NativeOutput, testing::ValuesIn(Clips()),
                         [](const auto& info) {
                           return info.param.name.substr(
                               0, info.param.name.find('.'));
                         });

// Makes a file of pictures of several sizes and formats, and appends the hashes
// of each part to `native` and `rgb`. Pictures of JPEG may follow each other as
// they are.
std::string ChangingPictures(const std::vector<std::string>& forms,
                             std::vector<std::string>* native,
                             std::vector<std::string>* rgb) {
  const std::string path = TemporaryPath("changing.mjpeg");
  std::ofstream all(path, std::ios::binary);
  for (const std::string& form : forms) {
    const std::string part = TemporaryPath("part.mjpeg");
    EXPECT_TRUE(RunFfmpeg("-f lavfi -i testsrc2=r=25:s=" + form +
                          " -frames:v 4 '" + part + "'"));
    all << std::ifstream(part, std::ios::binary).rdbuf();
    const auto append = [](const auto& from, auto* to) {
      if (to != nullptr) to->insert(to->end(), from.begin(), from.end());
    };
    append(FfmpegHashes(part, "0:v:0", ""), native);
    append(FfmpegHashes(part, "0:v:0"), rgb);
  }
  return path;
}

TEST(NativeOutputOfChangingPictures, KeepsSizeAndFormatWithoutAutoscale) {
  if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  std::vector<std::string> native, rgb;
  const std::string path =
      ChangingPictures({"320x180 -pix_fmt yuvj420p", "160x90 -pix_fmt yuvj422p",
                        "162x90 -pix_fmt yuvj422p", "642x362 -pix_fmt yuvj444p",
                        "320x180 -pix_fmt yuvj420p"},
                       &native, &rgb);
  ASSERT_EQ(native.size(), 20u);
  OutputFormat format = Native();
  format.autoscale = false;
  const auto decoded = DecodeFile(path, -1, format);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->hashes, native);
  // The first picture of a form is decoded before its slots are laid out.
  EXPECT_GE(decoded->delivered_in_place, 15u);
  format.native.reset();
  const auto converted = DecodeFile(path, -1, format);
  ASSERT_TRUE(converted) << converted.error().message;
  EXPECT_EQ(converted->hashes, rgb);
}

TEST(NativeOutputOfChangingPictures, IsScaledToTheFirstOneAsFfmpegDoes) {
  if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  const std::string path =
      ChangingPictures({"320x180 -pix_fmt yuvj420p", "160x90 -pix_fmt yuvj422p",
                        "320x180 -pix_fmt yuvj420p"},
                       nullptr, nullptr);
  const auto expected = FfmpegHashes(path, "0:v:0", "");
  ASSERT_EQ(expected.size(), 12u);
  const auto decoded = DecodeFile(path, -1, Native());
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->hashes, expected);
}

// The host finds planes by a table of its own.
TEST(PixelLayouts, AreThoseOfLibavutil) {
  int known = 0;
  for (const AVPixFmtDescriptor* it = av_pix_fmt_desc_next(nullptr);
       it != nullptr; it = av_pix_fmt_desc_next(it)) {
    const AVPixelFormat format = av_pix_fmt_desc_get_id(it);
    const auto layout = ipc::FindPixelLayout(it->name);
    if ((it->flags & AV_PIX_FMT_FLAG_HWACCEL) != 0) {
      EXPECT_FALSE(layout) << it->name;
      continue;
    }
    // A libavutil newer than the table knows more.
    if (!layout) continue;
    ++known;
    EXPECT_EQ(layout->big_endian, (it->flags & AV_PIX_FMT_FLAG_BE) != 0)
        << it->name;
    EXPECT_EQ(layout->floats, (it->flags & AV_PIX_FMT_FLAG_FLOAT) != 0)
        << it->name;
    for (const int width : {1, 2, 7, 16, 321}) {
      for (const int height : {1, 2, 7, 181}) {
        const auto geometry =
            ipc::NativeGeometry(*layout, static_cast<uint32_t>(width),
                                static_cast<uint32_t>(height), UINT64_MAX);
        ASSERT_TRUE(geometry);
        int row_bytes[4] = {};
        ASSERT_GE(av_image_fill_linesizes(row_bytes, format, width), 0);
        uint64_t packed = 0;
        for (uint32_t i = 0; i < geometry->plane_count; ++i) {
          const ipc::PlaneGeometry& plane = geometry->planes[i];
          if (!layout->palette || i == 0) {
            EXPECT_EQ(plane.row_bytes, static_cast<uint32_t>(row_bytes[i]))
                << it->name << " " << width << "x" << height;
          }
          packed += uint64_t{plane.row_bytes} * plane.rows;
        }
        EXPECT_EQ(packed, static_cast<uint64_t>(av_image_get_buffer_size(
                              format, width, height, 1)))
            << it->name << " " << width << "x" << height;
      }
    }
  }
  EXPECT_GE(known, 190);
}

}  // namespace
}  // namespace bulkhead::worker::convert
