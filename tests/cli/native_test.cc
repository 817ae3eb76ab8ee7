// SPDX-License-Identifier: Apache-2.0
// Tests what `bulkhead decode` writes of native planes, byte for byte beside
// what the ffmpeg program writes.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/cli_fixture.h"

namespace bulkhead::tests {
namespace {

struct Encoding {
  std::string name;
  std::vector<std::string> arguments;
  std::string size = "34x22";
};

std::vector<std::string> Input(const std::string& path) {
  return {"ffmpeg", "-nostdin",      "-v",         "error", "-threads",
          "1",      "-noautorotate", "-i",         path,    "-map",
          "0:v:0",  "-fps_mode",     "passthrough"};
}

class NativeOutput : public Cli {
 protected:
  static std::string Make(const Encoding& encoding) {
    const std::string path = TemporaryDirectory() + "/" + encoding.name;
    if (std::filesystem::exists(path)) return path;
    std::vector<std::string> command = {
        "ffmpeg",    "-nostdin",
        "-v",        "error",
        "-f",        "lavfi",
        "-i",        "testsrc=rate=30000/1001:size=" + encoding.size,
        "-frames:v", "6"};
    command.insert(command.end(), encoding.arguments.begin(),
                   encoding.arguments.end());
    command.push_back(path);
    const ProgramResult result = RunProgram(command);
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    return path;
  }

  static std::string Ffmpeg(const std::string& path,
                            std::vector<std::string> output) {
    std::vector<std::string> command = Input(path);
    command.insert(command.end(), output.begin(), output.end());
    const ProgramResult result = RunProgram(command);
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    return result.output;
  }

  std::string Decode(const std::string& path,
                     std::vector<std::string> options) {
    std::vector<std::string> command = {"decode", path, "-o", "-"};
    command.insert(command.end(), options.begin(), options.end());
    const ProgramResult result = Run(command);
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    return result.output;
  }
};

// gtest would print both files.
void ExpectEqualFiles(const std::string& actual, const std::string& expected) {
  EXPECT_EQ(actual.substr(0, actual.find('\n')),
            expected.substr(0, expected.find('\n')));
  EXPECT_EQ(actual.size(), expected.size());
  EXPECT_TRUE(actual == expected);
}

TEST_F(NativeOutput, Y4mIsThatOfFfmpeg) {
  const std::vector<Encoding> encodings = {
      {"420.mp4", {"-c:v", "libx264", "-pix_fmt", "yuv420p"}},
      {"420_jpeg.mkv",
       {"-c:v", "ffv1", "-pix_fmt", "yuv420p", "-chroma_sample_location",
        "center"}},
      {"420_dv.mkv",
       {"-c:v", "ffv1", "-pix_fmt", "yuv420p", "-chroma_sample_location",
        "topleft"}},
      {"full.mkv",
       {"-c:v", "ffv1", "-pix_fmt", "yuv420p", "-color_range", "pc"}},
      {"interlaced.ts",
       {"-c:v", "mpeg2video", "-flags", "+ilme+ildct", "-top", "1"}},
      {"bottom.ts",
       {"-c:v", "mpeg2video", "-flags", "+ilme+ildct", "-top", "0"}},
      {"422.mkv", {"-c:v", "ffv1", "-pix_fmt", "yuv422p"}},
      {"odd.mkv", {"-c:v", "ffv1", "-pix_fmt", "yuv420p"}, "35x21"},
      {"444.mkv", {"-c:v", "ffv1", "-pix_fmt", "yuv444p", "-aspect", "4:3"}},
      {"411.mkv", {"-c:v", "ffv1", "-pix_fmt", "yuv411p"}},
      {"jpeg.avi", {"-c:v", "mjpeg", "-pix_fmt", "yuvj422p"}},
      {"gray.mkv", {"-c:v", "ffv1", "-pix_fmt", "gray"}},
      {"gray10.mkv", {"-c:v", "ffv1", "-pix_fmt", "gray10le"}},
      {"gray16.mkv", {"-c:v", "ffv1", "-pix_fmt", "gray16le"}},
      {"420p10.mkv", {"-c:v", "ffv1", "-pix_fmt", "yuv420p10le"}},
      {"422p12.mkv", {"-c:v", "ffv1", "-pix_fmt", "yuv422p12le"}},
      {"444p16.mkv", {"-c:v", "ffv1", "-pix_fmt", "yuv444p16le"}},
  };
  for (const Encoding& encoding : encodings) {
    SCOPED_TRACE(encoding.name);
    const std::string path = Make(encoding);
    ExpectEqualFiles(
        Decode(path, {"--format", "y4m"}),
        Ffmpeg(path, {"-f", "yuv4mpegpipe", "-strict", "-1", "-"}));
  }
}

// FFmpeg 5.1 writes chroma of an odd width and more than 8 bits without its
// last half of a sample, and then cannot read the file.
TEST_F(NativeOutput, Y4mOfOddWidthIsReadByFfmpeg) {
  const std::string path =
      Make({"odd10.mkv", {"-c:v", "ffv1", "-pix_fmt", "yuv420p10le"}, "35x21"});
  const std::string y4m = TemporaryDirectory() + "/odd10.y4m";
  ASSERT_EQ(Run({"decode", path, "--format", "y4m", "-o", y4m}).exit_code, 0);
  ExpectEqualFiles(Ffmpeg(y4m, {"-f", "rawvideo", "-"}),
                   Ffmpeg(path, {"-f", "rawvideo", "-"}));
}

TEST_F(NativeOutput, RawvideoIsThatOfFfmpeg) {
  for (const Encoding& encoding : std::vector<Encoding>{
           {"420.mp4", {"-c:v", "libx264", "-pix_fmt", "yuv420p"}},
           {"alpha.mkv", {"-c:v", "ffv1", "-pix_fmt", "yuva420p"}},
           {"pal8.mkv", {"-c:v", "png", "-pix_fmt", "pal8"}},
           {"nv12.nut", {"-c:v", "rawvideo", "-pix_fmt", "nv12"}, "35x21"}}) {
    SCOPED_TRACE(encoding.name);
    const std::string path = Make(encoding);
    ExpectEqualFiles(
        Decode(path, {"--format", "rawvideo", "--pixel-format", "native"}),
        Ffmpeg(path, {"-f", "rawvideo", "-"}));
  }
}

TEST_F(NativeOutput, HashesAreThoseOfFfmpeg) {
  const std::string ours = Decode(clip(), {"--pixel-format", "native"});
  EXPECT_EQ(Hashes(ours), Hashes(Ffmpeg(clip(), {"-f", "framemd5", "-"})));
  // The column of the size, too.
  EXPECT_NE(ours.find(" 115200, "), std::string::npos) << ours;
  EXPECT_EQ(Hashes(Decode(clip(), {"--pixel-format", "native", "--at", "7"})),
            std::vector{Hashes(ours)[7]});
  EXPECT_EQ(
      Run({"decode", clip(), "--pixel-format", "native", "--format", "null"})
          .exit_code,
      0);
}

TEST_F(NativeOutput, SaysWhatCannotBe) {
  const std::string rgb = Make({"rgb.mkv", {"-c:v", "png"}});
  ExpectFailure({"decode", rgb, "--format", "y4m"}, 2,
                "y4m has no pixel format rgb24; choose --format rawvideo "
                "--pixel-format native, or convert to 4:4:4 with "
                "--pixel-format rgb24");
  ExpectFailure(
      {"decode", clip(), "--pixel-format", "native", "--resize", "8x8"}, 2,
      "leave out --resize");
  ExpectFailure({"decode", clip(), "--pixel-format", "native", "--dtype",
                 "float32", "--format", "rawvideo"},
                2, "--dtype");
  ExpectFailure({"decode", clip(), "--pixel-format", "native", "-o",
                 TemporaryDirectory() + "/%d.png"},
                2, "png holds RGB");
  ExpectFailure({"decode", clip(), "--pixel-format", "nv12"}, 2, "native");
  ExpectFailure({"decode", clip(), "--audio", "--pixel-format", "native"}, 2,
                "options for pictures");
}

}  // namespace
}  // namespace bulkhead::tests
