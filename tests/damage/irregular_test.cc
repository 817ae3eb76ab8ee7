// SPDX-License-Identifier: Apache-2.0
//
// Files that are damaged, or lack their beginning or what describes them, on
// cpu and openreg. The decoder delivers exactly the frames that FFmpeg shows
// and does not mark as corrupt, with the same timestamps.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "bulkhead/operators.h"
#include "tests/access/access_clips.h"
#include "tests/access/straight_pass.h"
#include "tests/damage/clip_bytes.h"
#include "tests/media/marked_frames.h"
#include "tests/support/file_bytes.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

class Irregular : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!RunProgram({"ffmpeg", "-version"}).started) {
      GTEST_SKIP() << "there is no ffmpeg on this machine";
    }
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
  }

  static std::string BytesOf(const std::string& clip) {
    const auto path = MakeAccessClip(clip);
    EXPECT_TRUE(path) << path.error();
    return path ? ReadBytes(*path) : "";
  }

  static std::string Write(const std::string& name, const std::string& bytes) {
    return WriteClip("irregular_" + name, bytes);
  }

  // Copies the packets of a clip into another container.
  static std::string Copy(const std::string& clip, const std::string& name,
                          const std::vector<std::string>& options = {}) {
    const auto from = MakeAccessClip(clip);
    EXPECT_TRUE(from) << from.error();
    const std::string path = TemporaryDirectory() + "/whole_" + name;
    std::vector<std::string> words = {"-i", *from, "-c", "copy"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(path);
    const ProgramResult made = RunFfmpeg(words);
    EXPECT_EQ(made.exit_code, 0) << made.Describe();
    return path;
  }

  Result<VideoDecoder> TryOpen(const std::string& path) {
    return host_->OpenVideo(
        path, {.device = GetParam(), .on_corrupt = OnCorrupt::kSkip});
  }

  VideoDecoder Open(const std::string& path) { return TryOpen(path).value(); }

  // Decodes all frames. Also expects that FrameCount() counts them and that
  // FrameAt() finds each of them.
  static std::vector<SeenFrame> Pass(VideoDecoder& video) {
    const StraightPass pass = DecodeStraight(video);
    EXPECT_TRUE(pass.failure.ok()) << pass.failure;
    EXPECT_FALSE(pass.frames.empty());
    EXPECT_EQ(video.FrameCount().value(),
              pass.frames.size() + DamagedFrames(video));
    for (const size_t at : {pass.frames.size() - 1, size_t{0}}) {
      const SeenFrame& expected = pass.frames[at];
      const auto frame = video.FrameAt(static_cast<int64_t>(expected.index));
      EXPECT_TRUE(frame) << frame.error();
      if (frame) {
        EXPECT_EQ(Describe(See(*frame)), Describe(expected));
      }
    }
    return pass.frames;
  }

  std::vector<SeenFrame> PassAsFfmpeg(VideoDecoder& video,
                                      const std::string& path) {
    const std::vector<SeenFrame> frames = Pass(video);
    auto reference = DecodeWithMarks(path).value();
    std::set<std::string> delivered;
    for (const SeenFrame& frame : frames) delivered.insert(frame.hash);
    std::erase_if(reference, [&](const MarkedFrame& frame) {
      return frame.marked || (delivered.count(frame.hash) == 0 &&
                              IsListedAsDamaged(video, frame.pts));
    });
    EXPECT_EQ(frames.size(), reference.size());
    for (size_t i = 0; i < std::min(frames.size(), reference.size()); ++i) {
      EXPECT_EQ(frames[i].pts.value_or(INT64_MIN), reference[i].pts) << i;
      EXPECT_EQ(frames[i].hash, reference[i].hash) << i;
    }
    return frames;
  }

  std::unique_ptr<Host> host_;
};

TEST_P(Irregular, DamageInTheMiddleCostsWhatItHits) {
  const std::string whole = Write("whole.mkv", BytesOf("h264_late_start.mkv"));
  std::string bytes = ReadBytes(whole);
  const size_t middle = bytes.size() / 2;
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(middle), 400, '\xa5');
  const std::string path = Write("middle.mkv", bytes);
  VideoDecoder sound = Open(whole);
  VideoDecoder video = Open(path);
  const auto expected = Pass(sound);
  const auto frames = PassAsFfmpeg(video, path);
  ASSERT_FALSE(DamageOf(video).empty());
  EXPECT_GT(frames.size(), expected.size() - 15) << "one group of pictures";
  EXPECT_LT(frames.size(), expected.size());
  EXPECT_EQ(frames.front(), expected.front());
  EXPECT_EQ(frames.back().hash, expected.back().hash);
  EXPECT_EQ(frames.back().pts, expected.back().pts);
}

// How many frames workers have made for the sessions of this process that have
// the file open.
uint64_t FramesMadeOf(const std::string& path) {
  const auto running = FindRunningHosts(std::chrono::milliseconds(0));
  EXPECT_TRUE(running) << running.error();
  uint64_t frames = 0;
  for (const RunningHost& host : running->hosts) {
    if (host.pid != ::getpid()) continue;
    for (const RunningBackend& backend : host.backends) {
      for (const RunningSession& session : backend.sessions) {
        if (session.input == path) frames += session.frames;
      }
    }
  }
  return frames;
}

TEST_P(Irregular, ABatchLeavesOutDamageInOnePass) {
  std::string bytes = BytesOf("h264_late_start.mkv");
  for (const size_t part : {2, 3, 4}) {
    std::fill_n(
        bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 5 * part),
        400, '\xa5');
  }
  const std::string path = Write("batch.mkv", bytes);
  VideoDecoder straight = Open(path);
  const StraightPass pass = DecodeStraight(straight);
  ASSERT_TRUE(pass.failure.ok()) << pass.failure;
  ASSERT_GT(straight.FrameCount().value(), pass.frames.size() + 2);
  const uint64_t before = FramesMadeOf(path);
  EXPECT_EQ(before, pass.frames.size());

  VideoDecoder video = Open(path);
  const auto batch = video.FramesInRange(0, std::nullopt, 1);
  ASSERT_TRUE(batch) << batch.error();
  EXPECT_EQ(FramesMadeOf(path) - before, batch->size());
  ASSERT_EQ(batch->size(), pass.frames.size());
  for (size_t i = 0; i < batch->size(); ++i) {
    const auto frame =
        video.FrameAt(static_cast<int64_t>(pass.frames[i].index));
    ASSERT_TRUE(frame) << frame.error();
    EXPECT_EQ(Describe(See(*frame)), Describe(pass.frames[i]));
    const std::span<const std::byte> picture = batch->picture(i);
    const size_t row_bytes = picture.size() / batch->height;
    for (uint32_t y = 0; y < batch->height; ++y) {
      ASSERT_EQ(std::memcmp(picture.data() + y * row_bytes,
                            frame->row(y).data(), row_bytes),
                0)
          << "picture " << i << ", row " << y;
    }
  }
}

TEST_P(Irregular, WithoutItsHeaderAnMp4IsRefusedSayingSo) {
  const std::string bytes = BytesOf("h264_b_pyramid.mp4");
  const size_t header = bytes.find("moov");
  ASSERT_NE(header, std::string::npos);
  const auto video =
      TryOpen(Write("no_header.mp4", bytes.substr(0, header - 4)));
  ASSERT_FALSE(video);
  EXPECT_EQ(video.error().code(), Code::kBadInput) << video.error();
  EXPECT_NE(video.error().message().find("no_header.mp4"), std::string::npos)
      << video.error();
}

TEST_P(Irregular, AStreamThatIsCutAtItsBeginningBeginsWhereItCan) {
  for (const char* name : {"begins_late.264", "begins_late.ts"}) {
    SCOPED_TRACE(name);
    const std::string whole = Copy("h264_b_pyramid.mp4", name);
    VideoDecoder sound = Open(whole);
    const auto expected = Pass(sound);
    const std::string path = Write(name, ReadBytes(whole).substr(5555));
    VideoDecoder video = Open(path);
    const auto frames = PassAsFfmpeg(video, path);
    EXPECT_LT(frames.size(), expected.size());
    EXPECT_EQ(frames.back().hash, expected.back().hash);
  }
  const std::string path =
      Write("mpeg2.ts", BytesOf("mpeg2_open_gop.ts").substr(5555));
  VideoDecoder video = Open(path);
  PassAsFfmpeg(video, path);
}

TEST_P(Irregular, WithoutItsParameterSetsAStreamIsRefused) {
  const auto video =
      TryOpen(Write("no_sets.264", BytesOf("h264_raw.264").substr(3000)));
  ASSERT_FALSE(video);
  EXPECT_EQ(video.error().code(), Code::kBadInput) << video.error();
}

// The 33-bit clock of MPEG-TS wraps during the clip.
TEST_P(Irregular, TimesMayBeginBelowZero) {
  const std::string path = Copy(
      "h264_b_pyramid.mp4", "below_zero.ts",
      {"-output_ts_offset", "95443", "-muxdelay", "0", "-muxpreload", "0"});
  VideoDecoder video = Open(path);
  const auto frames = PassAsFfmpeg(video, path);
  const SecondsRange played = video.PlayedRange().value();
  EXPECT_LT(played.begin, 0);
  EXPECT_GT(played.end, 0);
  EXPECT_EQ(See(video.FramePlayedAt(played.begin).value()), frames.front());
  const Frame across = video.FramePlayedAt(0).value();
  EXPECT_LE(across.pts_seconds(), 0);
  EXPECT_GT(across.pts_seconds() + across.duration_seconds(), 0);
  EXPECT_EQ(video.FramePlayedAt(played.begin - 0.1).error().code(),
            Code::kOutOfRange);
}

INSTANTIATE_TEST_SUITE_P(Devices, Irregular,
                         testing::Values("cpu", "openreg:0"),
                         [](const auto& device) {
                           return std::string(device.param).substr(0, 3);
                         });

}  // namespace
}  // namespace bulkhead::tests
