// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/frame_hash.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

class SeekModes : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    path_ = ClipOrSkip(Clip::kH264);
    if (path_.empty()) return;
    reference_ = HashesByFfmpeg(path_).value();
    host_ = Create({});
  }

  static std::unique_ptr<Host> Create(Limits limits) {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    options.limits = limits;
    return Host::Create(options).value();
  }

  // Returns the frame mappings that ffprobe prints, of frames or of packets.
  std::vector<FrameMapping> Mappings() {
    const ProgramResult frames =
        RunProgram({"ffprobe", "-v", "error", "-select_streams", "v:0",
                    "-show_frames", "-of", "json", path_});
    return ParseFrameMappings(frames.output).value();
  }

  VideoOptions Options() { return {.device = GetParam()}; }

  void ExpectRandomFrames(VideoDecoder& video) {
    const auto count = video.FrameCount();
    ASSERT_TRUE(count) << count.error();
    ASSERT_EQ(*count, reference_.size());
    std::mt19937 random(7);
    std::uniform_int_distribution<size_t> any(0, reference_.size() - 1);
    for (int i = 0; i < 60; ++i) {
      const size_t index = i < 10 ? static_cast<size_t>(i) : any(random);
      const auto frame = video.FrameAt(static_cast<int64_t>(index));
      ASSERT_TRUE(frame) << index << ": " << frame.error();
      ASSERT_EQ(HashOf(*frame), reference_[index]) << "frame " << index;
    }
    const auto beyond = video.FrameAt(static_cast<int64_t>(reference_.size()));
    ASSERT_FALSE(beyond);
    EXPECT_EQ(beyond.error().code(), Code::kOutOfRange);
  }

  Host& host() { return *host_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::vector<std::string> reference_;
  std::unique_ptr<Host> host_;
};

TEST_P(SeekModes, MappingsTakeThePlaceOfTheScan) {
  VideoOptions options = Options();
  options.frame_mappings = Mappings();
  auto video = host().OpenVideo(path(), options);
  ASSERT_TRUE(video) << video.error();
  ExpectRandomFrames(*video);

  options.frame_mappings.resize(10);
  auto part = host().OpenVideo(path(), options);
  ASSERT_TRUE(part) << part.error();
  EXPECT_EQ(part->FrameCount().value(), 10u);
}

TEST_P(SeekModes, ApproximateIsExactWhereTheRateIsConstant) {
  VideoOptions options = Options();
  options.seek_mode = SeekMode::kApproximate;
  auto video = host().OpenVideo(path(), options);
  ASSERT_TRUE(video) << video.error();
  ExpectRandomFrames(*video);
  EXPECT_EQ(video->metadata().frame_count_from_content, std::nullopt);
}

TEST_P(SeekModes, WhatDoesNotGoTogetherIsRefused) {
  VideoOptions options = Options();
  options.frame_mappings = {{0, 1, true}};
  options.seek_mode = SeekMode::kApproximate;
  const auto both = host().OpenVideo(path(), options);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code(), Code::kInvalidArgument);

  options.seek_mode = SeekMode::kExact;
  options.frame_mappings = {{5, 1, true}, {5, 1, false}};
  auto twins = host().OpenVideo(path(), options);
  ASSERT_TRUE(twins) << twins.error();
  EXPECT_EQ(twins->FrameCount().error().code(), Code::kInvalidArgument);
}

TEST_P(SeekModes, ContentIsToldOnceItWasRead) {
  auto video = host().OpenVideo(path(), Options());
  ASSERT_TRUE(video) << video.error();
  EXPECT_EQ(video->metadata().frame_count_from_content, std::nullopt);
  EXPECT_EQ(video->metadata().frame_count, 120u) << "from the header";
  ASSERT_TRUE(video->FrameCount());
  EXPECT_EQ(video->metadata().frame_count_from_content, 120u);
  EXPECT_TRUE(video->metadata().end_seconds_from_content);
}

TEST_P(SeekModes, AnIndexBeyondItsLimitNamesIt) {
  const auto small = Create({.index_frames = 50});
  for (const SeekMode mode : {SeekMode::kExact, SeekMode::kApproximate}) {
    VideoOptions options = Options();
    options.seek_mode = mode;
    auto video = small->OpenVideo(path(), options);
    ASSERT_TRUE(video) << video.error();
    const auto count = video->FrameCount();
    ASSERT_FALSE(count);
    EXPECT_EQ(count.error().code(), Code::kResourceExhausted);
    EXPECT_NE(count.error().message().find("the limit index_frames"),
              std::string::npos)
        << count.error();
    EXPECT_TRUE(video->Next()) << "in order it can be decoded";
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, SeekModes,
                         testing::Values("cpu", "openreg:1"),
                         [](const auto& device) {
                           return std::string(device.param).substr(0, 3);
                         });

}  // namespace
}  // namespace bulkhead::tests
