// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/access/access_clips.h"
#include "tests/access/straight_pass.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

constexpr uint64_t kFrames = 20;
const std::set<uint64_t> kDamaged = {7, 8, 15};

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A clip of PNG pictures, some of which the test has damaged.
class OnCorruptTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string clip = ClipOrSkip(Clip::kPng);
    if (clip.empty()) return;
    std::string bytes = Read(clip);
    // Damages the header of the picture and keeps what the stream's parser
    // needs.
    const std::string header = "IHDR";
    size_t at = 0;
    for (uint64_t frame = 0; frame < kFrames; ++frame, ++at) {
      at = bytes.find(header, at);
      ASSERT_NE(at, std::string::npos) << frame;
      if (kDamaged.count(frame) > 0) bytes.replace(at, 1, "X");
    }
    path_ = TemporaryDirectory() + "/damaged.mkv";
    std::ofstream(path_, std::ios::binary) << bytes;
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
  }

  VideoDecoder Open(OnCorrupt on_corrupt) {
    VideoOptions options;
    options.device = GetParam();
    options.on_corrupt = on_corrupt;
    return host_->OpenVideo(path_, options).value();
  }

  static void ExpectDamage(const VideoDecoder& video) {
    const auto damage = DamageOf(video);
    ASSERT_EQ(damage.size(), 2u);
    for (const DamagedRange& range : damage) {
      EXPECT_EQ(range.kind, DamageKind::kDamage);
      EXPECT_EQ(range.sign, DamageSign::kRejected);
    }
    EXPECT_EQ(damage[0].first_frame, 7u);
    EXPECT_EQ(damage[0].last_frame, 8u);
    EXPECT_NEAR(*damage[0].begin_seconds, 0.35, 1e-6);
    EXPECT_NEAR(*damage[0].end_seconds, 0.45, 1e-6);
    ASSERT_TRUE(damage[0].first_byte && damage[0].last_byte);
    EXPECT_LT(*damage[0].first_byte, *damage[0].last_byte);
    EXPECT_EQ(damage[1].first_frame, 15u);
    EXPECT_EQ(damage[1].frames, 1u);
  }

  std::string path_;
  std::unique_ptr<Host> host_;
};

TEST_P(OnCorruptTest, ErrorNamesTheFrameAndNextGoesOnBehindIt) {
  VideoDecoder video = Open(OnCorrupt::kError);
  for (uint64_t frame = 0; frame < kFrames; ++frame) {
    const auto next = video.Next();
    if (kDamaged.count(frame) == 0) {
      ASSERT_TRUE(next) << next.error();
      ASSERT_TRUE(*next);
      EXPECT_EQ((*next)->index(), frame);
      continue;
    }
    ASSERT_FALSE(next) << frame;
    EXPECT_EQ(next.error().code(), Code::kBadInput);
    const std::string message = next.error().message();
    for (const std::string& told :
         {"frame " + std::to_string(frame), std::string(" s, byte "),
          std::string("the decoder rejected the packet")}) {
      EXPECT_NE(message.find(told), std::string::npos) << message;
    }
  }
  EXPECT_FALSE(video.Next().value());
  ExpectDamage(video);
}

TEST_P(OnCorruptTest, AWorkersDeathChangesNothing) {
  VideoDecoder video = Open(OnCorrupt::kError);
  int killed = 0;
  for (uint64_t frame = 0; frame < kFrames; ++frame) {
    const auto next = video.Next();
    EXPECT_EQ(bool{next}, kDamaged.count(frame) == 0) << frame;
    if (next) {
      EXPECT_EQ((*next)->index(), frame);
    }
    if (frame == 4 || frame == 7 || frame == 8 || frame == 16) {
      // The pid is 0 if a call has noticed the last death, and none has needed
      // a new worker since; kill(0) would end this test's own process group.
      const pid_t worker = video.worker_pid();
      if (worker > 0 && ::kill(worker, SIGKILL) == 0) ++killed;
    }
  }
  EXPECT_GE(killed, 2);  // at frames 4 and 16
  EXPECT_FALSE(video.Next().value());
  ExpectDamage(video);
}

TEST_P(OnCorruptTest, SkipLeavesOutAndLists) {
  VideoDecoder video = Open(OnCorrupt::kSkip);
  const StraightPass pass = DecodeStraight(video);
  EXPECT_TRUE(pass.failure.ok()) << pass.failure;
  ASSERT_EQ(pass.frames.size(), kFrames - kDamaged.size());
  for (const SeenFrame& frame : pass.frames) {
    EXPECT_EQ(kDamaged.count(frame.index), 0u) << frame.index;
  }
  ExpectDamage(video);
  EXPECT_EQ(video.FrameCount().value(), kFrames);
  const auto batch = video.FramesInRange(5, 11);
  ASSERT_TRUE(batch) << batch.error();
  ASSERT_EQ(batch->size(), 4u);
  EXPECT_NEAR(batch->pts_seconds[2], 0.45, 1e-6);
}

TEST_P(OnCorruptTest, IndexedAccessKnowsEachFramesFate) {
  VideoDecoder video = Open(OnCorrupt::kError);
  for (const int64_t index : {7, 15, 8, 7}) {
    const auto frame = video.FrameAt(index);
    ASSERT_FALSE(frame) << index;
    EXPECT_EQ(frame.error().code(), Code::kBadInput) << frame.error();
  }
  for (const int64_t index : {9, 6, 14, 19, 0}) {
    const auto frame = video.FrameAt(index);
    ASSERT_TRUE(frame) << frame.error();
    EXPECT_EQ(frame->index(), static_cast<uint64_t>(index));
  }
  ExpectDamage(video);
}

TEST_P(OnCorruptTest, NearestTellsWhichFrameItIs) {
  VideoDecoder video = Open(OnCorrupt::kNearest);
  EXPECT_EQ(video.FrameAt(15).value().index(), 14u) << "the earlier of two";
  EXPECT_EQ(video.FrameAt(7).value().index(), 6u);
  EXPECT_EQ(video.FrameAt(8).value().index(), 9u);
  EXPECT_EQ(video.FrameAt(3).value().index(), 3u);
}

TEST_P(OnCorruptTest, AFileIsWhatItWasWhenItWasOpened) {
  const auto clip = MakeAccessClip("mpeg2_open_gop.ts");
  if (!clip) GTEST_SKIP() << clip.error();
  const std::string bytes = Read(*clip);
  path_ = TemporaryDirectory() + "/growing.ts";
  const size_t half = bytes.size() / 2;
  std::ofstream(path_, std::ios::binary) << bytes.substr(0, half);
  VideoDecoder whole = Open(OnCorrupt::kSkip);
  VideoDecoder growing = Open(OnCorrupt::kSkip);
  const StraightPass expected = DecodeStraight(whole);
  std::ofstream(path_, std::ios::binary | std::ios::app) << bytes.substr(half);
  const StraightPass pass = DecodeStraight(growing);
  EXPECT_TRUE(pass.failure.ok()) << pass.failure;
  EXPECT_EQ(pass.frames, expected.frames);
  EXPECT_EQ(growing.FrameCount().value(), whole.FrameCount().value());
  VideoDecoder grown = Open(OnCorrupt::kSkip);
  EXPECT_GT(DecodeStraight(grown).frames.size(), pass.frames.size());
}

// The file loses its end while a decoder has it open, after the first frame.
class ShrinkingFileTest : public OnCorruptTest {
 protected:
  void SetUp() override {
    OnCorruptTest::SetUp();
    const auto clip = MakeAccessClip("mpeg2_open_gop.ts");
    if (!clip) GTEST_SKIP() << clip.error();
    bytes_ = Read(*clip);
    path_ = TemporaryDirectory() + "/shrinking.ts";
    std::ofstream(path_, std::ios::binary) << bytes_;
  }
  void Shrink() const {
    ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(bytes_.size() / 4)),
              0);
  }

  std::string bytes_;
};

TEST_P(ShrinkingFileTest, WhatTheIndexHasAndThePassDoesNotIsDamage) {
  for (const OnCorrupt on_corrupt : {OnCorrupt::kSkip, OnCorrupt::kError}) {
    std::ofstream(path_, std::ios::binary) << bytes_;
    VideoDecoder video = Open(on_corrupt);
    const uint64_t count = video.FrameCount().value();
    Shrink();
    std::vector<SeenFrame> frames;
    std::string said;
    for (size_t errors = 0; errors <= count; ++errors) {
      const StraightPass pass = DecodeStraight(video);
      frames.insert(frames.end(), pass.frames.begin(), pass.frames.end());
      if (pass.failure.ok()) break;
      EXPECT_EQ(pass.failure.code(), Code::kBadInput) << pass.failure;
      said += pass.failure.message();
    }
    EXPECT_LT(frames.size(), count);
    EXPECT_EQ(frames.size() + DamagedFrames(video), count);
    EXPECT_EQ(DamageOf(video).back().last_frame, count - 1);
    EXPECT_EQ(said.find("has become shorter") != std::string::npos,
              on_corrupt == OnCorrupt::kError)
        << said;
    EXPECT_EQ(video.FrameAt(-1).error().code(), Code::kBadInput);
  }
}

TEST_P(ShrinkingFileTest, APassEndsWhereNothingIsLeftToOpen) {
  for (const OnCorrupt on_corrupt : {OnCorrupt::kSkip, OnCorrupt::kError}) {
    std::ofstream(path_, std::ios::binary) << bytes_;
    VideoDecoder video = Open(on_corrupt);
    ASSERT_TRUE(video.Next());
    ASSERT_EQ(::truncate(path_.c_str(), 0), 0);
    ASSERT_EQ(::kill(video.worker_pid(), SIGKILL), 0);
    std::string said;
    size_t errors = 0;
    for (Status failure(Code::kInternal, ""); !failure.ok() && errors < 100;) {
      failure = DecodeStraight(video).failure;
      said += failure.message();
      errors += !failure.ok();
    }
    // One frame may be cut off in the middle.
    EXPECT_LE(errors, on_corrupt == OnCorrupt::kError ? 2 : 0) << said;
    EXPECT_EQ(said.find("has become shorter") != std::string::npos,
              on_corrupt == OnCorrupt::kError)
        << said;
    EXPECT_GT(DamagedFrames(video), 0u);
    const auto count = video.FrameCount();
    ASSERT_FALSE(count);
    EXPECT_NE(count.error().message().find("has become shorter"),
              std::string::npos)
        << count.error();
  }
}

TEST_P(ShrinkingFileTest, WithoutAnIndexTheLossIsToldToo) {
  VideoDecoder strict = Open(OnCorrupt::kError);
  VideoDecoder skipping = Open(OnCorrupt::kSkip);
  Shrink();
  std::string said;
  for (int i = 0; i < 100; ++i) {
    const Status failure = DecodeStraight(strict).failure;
    if (failure.ok()) break;
    said += failure.message();
  }
  EXPECT_NE(said.find("has become shorter"), std::string::npos) << said;
  EXPECT_GT(DamagedFrames(strict), 0u);
  EXPECT_EQ(strict.FrameCount().error().code(), Code::kBadInput);
  EXPECT_TRUE(DecodeStraight(skipping).failure.ok());
  EXPECT_GT(DamagedFrames(skipping), 0u);
}

TEST_P(ShrinkingFileTest, FramesAndDamageAreWhatTheHeaderCounts) {
  const auto clip = MakeAccessClip("h264_b_pyramid.mp4");
  if (!clip) GTEST_SKIP() << clip.error();
  bytes_ = Read(*clip);
  path_ = TemporaryDirectory() + "/shrinking.mp4";
  std::ofstream(path_, std::ios::binary) << bytes_;
  VideoDecoder video = Open(OnCorrupt::kSkip);
  const auto told = video.metadata().frame_count_from_header;
  ASSERT_TRUE(told);
  Shrink();
  const StraightPass pass = DecodeStraight(video);
  EXPECT_TRUE(pass.failure.ok()) << pass.failure;
  EXPECT_LT(pass.frames.size(), *told);
  EXPECT_EQ(pass.frames.size() + DamagedFrames(video), *told);
  // The header was in the lost bytes, so nothing can be scanned any more.
  const auto count = video.FrameCount();
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().code(), Code::kBadInput);
  EXPECT_NE(count.error().message().find("has become shorter"),
            std::string::npos)
      << count.error();
}

INSTANTIATE_TEST_SUITE_P(Devices, ShrinkingFileTest,
                         testing::Values("cpu", "openreg:0"),
                         [](const auto& device) {
                           return std::string(device.param).substr(0, 3);
                         });

INSTANTIATE_TEST_SUITE_P(Devices, OnCorruptTest,
                         testing::Values("cpu", "openreg:0"),
                         [](const auto& device) {
                           return std::string(device.param).substr(0, 3);
                         });

}  // namespace
}  // namespace bulkhead::tests
