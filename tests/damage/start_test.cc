// SPDX-License-Identifier: Apache-2.0
//
// Streams that begin in their middle, as `ffmpeg -ss 1.5 -c copy` makes them
// and recordings of broadcasts are. Their first pictures refer to what is not
// in the file. ffmpeg leaves them out, and so does Bulkhead: they are no frames
// and no damage. Damage behind them is told.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/access/straight_pass.h"
#include "tests/media/marked_frames.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Start {
  std::string name;
  std::vector<std::string> encoder;
  std::string whole;  // the container of the whole stream
  // The container of what is left of it.
  std::vector<std::string> containers;
  std::vector<std::string> copying = {"-ss", "1.5"};
};

void PrintTo(const Start& start, std::ostream* out) { *out << start.name; }

class StreamStart : public testing::TestWithParam<Start> {
 protected:
  void SetUp() override {
    if (!RunProgram({"ffmpeg", "-version"}).started) {
      GTEST_SKIP() << "there is no ffmpeg on this machine";
    }
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
    whole_ = TemporaryDirectory() + "/whole_" + GetParam().name + "." +
             GetParam().whole;
    std::vector<std::string> words = {"-f", "lavfi", "-i",
                                      "testsrc2=s=176x144:r=25:d=4"};
    words.insert(words.end(), GetParam().encoder.begin(),
                 GetParam().encoder.end());
    words.push_back(whole_);
    const ProgramResult made = RunFfmpeg(words);
    ASSERT_EQ(made.exit_code, 0) << made.Describe();
  }

  // Copies the stream from its middle on.
  std::string Copy(const std::string& container) const {
    const std::string path =
        TemporaryDirectory() + "/start_" + GetParam().name + "." + container;
    std::vector<std::string> words = {"-copyts"};
    const std::vector<std::string>& copying = GetParam().copying;
    if (copying.front() == "-ss") {
      words.insert(words.end(), copying.begin(), copying.end());
    }
    words.insert(words.end(), {"-i", whole_, "-c", "copy"});
    if (copying.front() != "-ss") {
      words.insert(words.end(), copying.begin(), copying.end());
    }
    words.push_back(path);
    const ProgramResult made = RunFfmpeg(words);
    EXPECT_EQ(made.exit_code, 0) << made.Describe();
    return path;
  }

  VideoDecoder Open(const std::string& path, OnCorrupt on_corrupt) const {
    VideoOptions options;
    options.on_corrupt = on_corrupt;
    return host_->OpenVideo(path, options).value();
  }

  // Expects the frames that ffmpeg shows, without any damage.
  void ExpectAsFfmpeg(const std::string& path) const {
    const auto reference = DecodeWithMarks(path).value();
    VideoDecoder video = Open(path, OnCorrupt::kError);
    const StraightPass pass = DecodeStraight(video);
    EXPECT_TRUE(pass.failure.ok()) << pass.failure;
    EXPECT_TRUE(video.damage().empty());
    ASSERT_EQ(pass.frames.size(), reference.size());
    for (size_t i = 0; i < reference.size(); ++i) {
      EXPECT_EQ(pass.frames[i].hash, reference[i].hash) << i;
    }
    // Another decoder, which has not seen the pass.
    VideoDecoder random = Open(path, OnCorrupt::kError);
    EXPECT_EQ(random.FrameCount().value(), reference.size());
    for (size_t i = 0; i < reference.size(); i += 7) {
      const size_t at = reference.size() - 1 - i;
      const auto frame = random.FrameAt(static_cast<int64_t>(at));
      ASSERT_TRUE(frame) << frame.error();
      EXPECT_EQ(Describe(See(*frame)), Describe(pass.frames[at]));
    }
    EXPECT_EQ(Describe(See(random.FrameAt(0).value())),
              Describe(pass.frames[0]));
    EXPECT_TRUE(random.damage().empty());
  }

  std::unique_ptr<Host> host_;
  std::string whole_;
};

TEST_P(StreamStart, WhatRefersToTheTimeBeforeIsNoFrame) {
  for (const std::string& container : GetParam().containers) {
    SCOPED_TRACE(container);
    ExpectAsFfmpeg(Copy(container));
  }
}

TEST_P(StreamStart, DamageBehindItIsTold) {
  for (const std::string& container : GetParam().containers) {
    SCOPED_TRACE(container);
    const std::string whole = Copy(container);
    const size_t frames = DecodeWithMarks(whole).value().size();
    std::string bytes = Read(whole);
    const size_t middle = bytes.size() / 2;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(middle), 2000, 0);
    const std::string path =
        TemporaryDirectory() + "/damaged_" + GetParam().name + "." + container;
    std::ofstream(path, std::ios::binary) << bytes;
    VideoDecoder video = Open(path, OnCorrupt::kSkip);
    const StraightPass pass = DecodeStraight(video);
    EXPECT_TRUE(pass.failure.ok()) << pass.failure;
    size_t damaged = 0;
    for (const DamagedRange& range : video.damage()) damaged += range.frames;
    EXPECT_GT(damaged, 0u);
    EXPECT_EQ(pass.frames.size() + damaged, frames);
  }
}

// Pictures that refer to a later keyframe which is lost are frames.
TEST_P(StreamStart, ALaterKeyframeThatIsLostHidesNoFrame) {
  const auto& containers = GetParam().containers;
  if (std::find(containers.begin(), containers.end(), "mp4") ==
      containers.end()) {
    GTEST_SKIP() << "MP4 lists where packets are";
  }
  if (GetParam().name == "mpeg1") {
    GTEST_SKIP() << "libavformat takes the zeroes for padding";
  }
  const std::string path =
      TemporaryDirectory() + "/keyframe_" + GetParam().name + ".mp4";
  ASSERT_EQ(RunFfmpeg({"-i", whole_, "-c", "copy", path}).exit_code, 0);
  const size_t frames = Open(path, OnCorrupt::kError).FrameCount().value();
  std::istringstream packets(
      RunProgram({"ffprobe", "-v", "quiet", "-show_entries",
                  "packet=size,pos,flags", "-of", "csv=p=0", path})
          .output);
  const std::string intact = Read(path);
  size_t keyframes = 0;
  for (std::string line; std::getline(packets, line);) {
    size_t size = 0;
    size_t at = 0;
    char flag = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "%zu,%zu,%c", &size, &at, &flag), 3);
    if (flag != 'K' || ++keyframes == 1) continue;
    SCOPED_TRACE("keyframe " + std::to_string(keyframes));
    std::string bytes = intact;
    bytes.replace(at, size, size, '\0');
    std::ofstream(path, std::ios::binary) << bytes;
    VideoDecoder video = Open(path, OnCorrupt::kSkip);
    const StraightPass pass = DecodeStraight(video);
    EXPECT_TRUE(pass.failure.ok()) << pass.failure;
    size_t damaged = 0;
    for (const DamagedRange& range : video.damage()) damaged += range.frames;
    EXPECT_EQ(pass.frames.size() + damaged, frames);
    EXPECT_EQ(video.FrameCount().value(), frames);
  }
  EXPECT_TRUE(keyframes > 1 || GetParam().name == "h264_refresh");
}

// The pages of an Ogg file, as strings (RFC 3533, section 6).
std::vector<std::string> PagesOf(const std::string& bytes) {
  std::vector<std::string> pages;
  for (size_t at = 0; at + 27 < bytes.size();) {
    const size_t segments = static_cast<unsigned char>(bytes[at + 26]);
    size_t size = 27 + segments;
    for (size_t i = 0; i < segments; ++i) {
      size += static_cast<unsigned char>(bytes[at + 27 + i]);
    }
    pages.push_back(bytes.substr(at, size));
    at += size;
  }
  return pages;
}

TEST_P(StreamStart, ABroadcastOfOggBeginsAtAnyPage) {
  if (GetParam().name != "theora") GTEST_SKIP() << "is no Ogg";
  std::string bytes;
  size_t left_out = 0;
  for (const std::string& page : PagesOf(Read(whole_))) {
    const bool is_header = page.substr(6, 8) == std::string(8, '\0');
    if (is_header || ++left_out > 5) bytes += page;
  }
  const std::string path = TemporaryDirectory() + "/broadcast.ogv";
  std::ofstream(path, std::ios::binary) << bytes;
  ExpectAsFfmpeg(path);
}

// Takes the first video packet out of the stream.
const std::vector<std::string> kDropFirst = {"-bsf:v",
                                             "noise=amount=0:drop=not(n)"};

INSTANTIATE_TEST_SUITE_P(
    Kinds, StreamStart,
    testing::Values(
        Start{"hevc",
              {"-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
               "log-level=none:keyint=20:min-keyint=10:bframes=3"},
              "mkv",
              {"mkv", "ts", "mp4"}},
        Start{"h264",
              {"-c:v", "libx264", "-preset", "veryfast", "-bf", "3",
               "-x264-params", "open-gop=1:keyint=20:min-keyint=10"},
              "mkv",
              {"mkv", "mp4"}},
        Start{"h264_stream",
              {"-c:v", "libx264", "-preset", "veryfast", "-bf", "3",
               "-x264-params", "open-gop=1:keyint=20:min-keyint=10"},
              "ts",
              {"ts", "mkv"}},
        Start{"h264_fields",
              {"-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-flags",
               "+ilme+ildct", "-x264-params",
               "open-gop=1:keyint=20:min-keyint=10:interlaced=1"},
              "ts",
              {"ts", "mkv"}},
        Start{"h264_refresh",
              {"-c:v", "libx264", "-preset", "veryfast", "-bf", "0",
               "-x264-params", "intra-refresh=1:keyint=20"},
              "mkv",
              {"mkv", "mp4"}},
        Start{"h264_refresh_b",
              {"-c:v", "libx264", "-preset", "veryfast", "-bf", "3",
               "-x264-params", "intra-refresh=1:keyint=20:b-pyramid=normal"},
              "ts",
              {"ts", "mkv"}},
        Start{
            "h264_without_idr",
            {"-c:v", "libx264", "-preset", "veryfast", "-bf", "0", "-g", "20"},
            "flv",
            {"flv", "mkv"},
            kDropFirst},
        Start{"mpeg1",
              {"-c:v", "mpeg1video", "-g", "12", "-bf", "2"},
              "mkv",
              {"mkv", "ts", "mp4"}},
        Start{"mpeg2",
              {"-c:v", "mpeg2video", "-g", "12", "-bf", "2"},
              "mkv",
              {"mkv", "ts", "mp4"}},
        Start{"mpeg2_late",
              {"-c:v", "mpeg2video", "-g", "12", "-bf", "2"},
              "ts",
              {"ts", "mkv"},
              kDropFirst},
        Start{"mpeg2_closed",
              {"-c:v", "mpeg2video", "-g", "12", "-bf", "2", "-flags", "+cgop",
               "-sc_threshold", "1000000000"},
              "mkv",
              {"mkv", "ts", "mp4"}},
        Start{"mpeg4",
              {"-c:v", "mpeg4", "-g", "12", "-bf", "2"},
              "mkv",
              {"mkv", "mp4"}},
        Start{"theora", {"-c:v", "libtheora", "-g", "12"}, "ogv", {"ogv"}}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace bulkhead::tests
