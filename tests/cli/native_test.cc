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

// JPEG pictures of three sizes and two formats. What ffmpeg makes of each part
// by itself is what they are before anything is scaled.
class SizesOfTheirOwn : public NativeOutput {
 protected:
  static std::vector<std::string> Parts() {
    std::vector<std::string> parts;
    for (const auto& [size, format] :
         {std::pair("64x48", "yuvj420p"), std::pair("130x98", "yuvj420p"),
          std::pair("34x22", "yuvj422p")}) {
      parts.push_back(Make(
          {"part" + std::string(size) + ".mjpeg", {"-pix_fmt", format}, size}));
    }
    return parts;
  }

  static std::string Joined() {
    const std::string path = TemporaryDirectory() + "/changing.avi";
    if (std::filesystem::exists(path)) return path;
    std::string all = "concat:";
    for (const std::string& part : Parts()) all += part + "|";
    all.pop_back();
    const ProgramResult result =
        RunProgram({"ffmpeg", "-nostdin", "-v", "error", "-r", "25", "-i", all,
                    "-c", "copy", path});
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    return path;
  }

  static std::string OfParts(const std::vector<std::string>& output) {
    std::string all;
    for (const std::string& part : Parts()) all += Ffmpeg(part, output);
    return all;
  }
};

TEST_F(SizesOfTheirOwn, RawvideoHasThemOneAfterTheOther) {
  ExpectEqualFiles(Decode(Joined(), {"--no-autoscale", "--format", "rawvideo"}),
                   OfParts({"-pix_fmt", "rgb24", "-f", "rawvideo", "-"}));
  ExpectEqualFiles(Decode(Joined(), {"--no-autoscale", "--format", "rawvideo",
                                     "--pixel-format", "native"}),
                   OfParts({"-f", "rawvideo", "-"}));
}

TEST_F(SizesOfTheirOwn, HashesTellTheBytesOfEach) {
  const std::string hashes = Decode(Joined(), {"--no-autoscale"});
  EXPECT_EQ(Hashes(hashes),
            Hashes(OfParts({"-pix_fmt", "rgb24", "-f", "framemd5", "-"})));
  for (const char* bytes : {" 9216, ", " 38220, ", " 2244, "}) {
    EXPECT_NE(hashes.find(bytes), std::string::npos) << hashes;
  }
  const auto at = Hashes(Decode(Joined(), {"--no-autoscale", "--at", "13,0"}));
  EXPECT_EQ(at, (std::vector{Hashes(hashes)[13], Hashes(hashes)[0]}));
  // By default all have the size of the first.
  const std::string scaled = Decode(Joined(), {});
  EXPECT_EQ(scaled.find(" 38220, "), std::string::npos) << scaled;
}

TEST_F(SizesOfTheirOwn, PicturesAreFilesOfTheirSizes) {
  const std::string pattern = TemporaryDirectory() + "/own%d.png";
  const ProgramResult result =
      Run({"decode", Joined(), "--no-autoscale", "-o", pattern});
  ASSERT_EQ(result.exit_code, 0) << result.Describe();
  for (const auto& [index, size] :
       {std::pair(0, "64x48"), std::pair(6, "130x98"),
        std::pair(17, "34x22")}) {
    const ProgramResult probed = RunProgram(
        {"ffprobe", "-v", "error", "-show_entries", "stream=width,height",
         "-of", "csv=p=0:s=x",
         TemporaryDirectory() + "/own" + std::to_string(index) + ".png"});
    EXPECT_EQ(probed.output, std::string(size) + "\n") << probed.Describe();
  }
}

TEST_F(SizesOfTheirOwn, SaysWhatCannotBe) {
  ExpectFailure({"decode", Joined(), "--no-autoscale", "--format", "y4m"}, 2,
                "y4m has pictures of one size; leave out --no-autoscale, or "
                "choose --format rawvideo, framemd5 or png");
  ExpectFailure({"decode", Joined(), "--no-autoscale", "--resize", "8x8"}, 2,
                "--no-autoscale");
  ExpectFailure({"decode", Joined(), "--no-autoscale", "--audio"}, 2,
                "options for pictures");
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
