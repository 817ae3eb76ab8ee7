// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/decode/decode_jobs.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace bulkhead::cli::decode {
namespace {

Result<std::vector<decoding::Job>> Parse(std::vector<std::string> files,
                                         std::string output,
                                         std::string format = "") {
  DecodeOptions options;
  options.files = std::move(files);
  options.output = std::move(output);
  options.format = std::move(format);
  return ParseJobs(options);
}

TEST(DecodeJob, NamesInTheOutputSetFilesApart) {
  const auto jobs = Parse({"in/a.mp4", "b.tar.mkv"}, "out/{name}/%03d.png");
  ASSERT_TRUE(jobs) << jobs.error();
  ASSERT_EQ(jobs->size(), 2u);
  EXPECT_EQ((*jobs)[0].format, "png");
  EXPECT_EQ((*jobs)[0].pattern.NameFor(7), "out/a/007.png");
  EXPECT_EQ((*jobs)[1].pattern.NameFor(7), "out/b.tar/007.png");
}

TEST(DecodeJob, WordsOfTimeAndOutputAreUnderstood) {
  DecodeOptions options;
  options.files = {"a.mp4"};
  options.times = "1:2.5";
  options.fps = "30000/1001";
  options.dtype = "float32";
  const auto jobs = ParseJobs(options);
  ASSERT_TRUE(jobs) << jobs.error();
  EXPECT_EQ(jobs->at(0).times, (decoding::TimeRange{1, 2.5}));
  EXPECT_EQ(jobs->at(0).fps->denominator, 1001);
  EXPECT_EQ(jobs->at(0).video.output_dtype, OutputDtype::kFloat32);
  EXPECT_TRUE(jobs->at(0).chosen());
  options.format = "y4m";
  EXPECT_EQ(ParseJobs(options).error().code(), Code::kInvalidArgument);
}

TEST(DecodeJob, TheSuffixOfTheOutputIsTheFormat) {
  const std::map<std::string, std::string> formats = {
      {"out/%d.png", "png"},      {"a.y4m", "y4m"},    {"a.yuv", "rawvideo"},
      {"{name}.md5", "framemd5"}, {"a", "framemd5"},   {"-", "framemd5"},
      {"out.d/a", "framemd5"},    {".hid", "framemd5"}};
  for (const auto& [output, format] : formats) {
    const auto jobs = Parse({"a.mp4"}, output);
    ASSERT_TRUE(jobs) << jobs.error();
    EXPECT_EQ(jobs->at(0).format, format) << output;
  }
  const auto unknown = Parse({"a.mp4"}, "out.gif");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code(), Code::kInvalidArgument);
  EXPECT_NE(unknown.error().message().find(".gif"), std::string::npos);
  EXPECT_NE(unknown.error().message().find(".png (png)"), std::string::npos);
  EXPECT_TRUE(Parse({"a.mp4"}, "out.gif", "rawvideo"));
  // Samples are not pictures.
  EXPECT_FALSE(Parse({"a.mp4"}, "a.wav"));
  DecodeOptions audio;
  audio.files = {"a.mp4"};
  audio.audio = true;
  audio.output = "a.mp3";
  EXPECT_FALSE(ParseJobs(audio));
  audio.output = "a.f32le";
  EXPECT_EQ(ParseJobs(audio)->at(0).format, "f32le");
  audio.output = "a";
  EXPECT_EQ(ParseJobs(audio)->at(0).format, "wav");
}

TEST(DecodeJob, APercentSignInANameIsNoNumber) {
  const auto jobs = Parse({"50%d.mp4"}, "{name}-%d.png");
  ASSERT_TRUE(jobs) << jobs.error();
  EXPECT_EQ((*jobs)[0].pattern.NameFor(7), "50%d-7.png");
}

TEST(DecodeJob, OutputsThatWouldBeTheSameAreRefused) {
  for (const auto& [first, second, output] :
       {std::tuple{"a.mp4", "b.mp4", "out.md5"},
        std::tuple{"a.mp4", "b.mp4", "out/%d.png"},
        std::tuple{"x/a.mp4", "y/a.mkv", "out/{name}.md5"},
        std::tuple{"a.mp4", "a.mp4", "{name}.md5"}}) {
    const auto jobs = Parse({first, second}, output);
    ASSERT_FALSE(jobs) << output;
    EXPECT_EQ(jobs.error().code(), Code::kInvalidArgument);
    EXPECT_NE(jobs.error().message().find(first), std::string::npos);
    EXPECT_NE(jobs.error().message().find("{name}"), std::string::npos);
  }
}

TEST(DecodeJob, SeveralFilesMayShareStdoutOrNothing) {
  EXPECT_TRUE(Parse({"a.mp4", "a.mp4"}, "-"));
  EXPECT_TRUE(Parse({"a.mp4", "a.mp4"}, "out", "null"));
}

}  // namespace
}  // namespace bulkhead::cli::decode
