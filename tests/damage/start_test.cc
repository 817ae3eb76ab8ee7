// SPDX-License-Identifier: Apache-2.0
//
// Streams that begin in their middle, as `ffmpeg -ss 1.5 -c copy` makes them
// and recordings of broadcasts are. Their first pictures refer to what is not
// in the file. ffmpeg leaves them out, and so does Bulkhead: they are no frames
// and no damage.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/access/straight_pass.h"
#include "tests/damage/clip_bytes.h"
#include "tests/media/marked_frames.h"
#include "tests/support/file_bytes.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

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
    EXPECT_TRUE(DamageOf(video).empty());
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
    EXPECT_TRUE(DamageOf(random).empty());
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

// Pictures that refer to a later keyframe which is lost are frames. MP4 lists
// where packets are.
class LaterKeyframe : public StreamStart {};

TEST_P(LaterKeyframe, HidesNoFrameIfItIsLost) {
  const std::string path =
      TemporaryDirectory() + "/keyframe_" + GetParam().name + ".mp4";
  ASSERT_EQ(RunFfmpeg({"-i", whole_, "-c", "copy", path}).exit_code, 0);
  const size_t frames = Open(path, OnCorrupt::kError).FrameCount().value();
  const std::vector<FilePacket> packets = PacketsOf(path);
  const std::string intact = ReadBytes(path);
  size_t keyframes = 0;
  for (const FilePacket& packet : packets) {
    if (!packet.keyframe || ++keyframes == 1) continue;
    SCOPED_TRACE("keyframe " + std::to_string(keyframes));
    std::string bytes = intact;
    bytes.replace(packet.position, packet.bytes, packet.bytes, '\0');
    const std::string damaged =
        WriteClip("lost_" + GetParam().name + ".mp4", bytes);
    VideoDecoder video = Open(damaged, OnCorrupt::kSkip);
    const StraightPass pass = DecodeStraight(video);
    EXPECT_TRUE(pass.failure.ok()) << pass.failure;
    EXPECT_LT(pass.frames.size(), frames);
    EXPECT_EQ(pass.frames.size() + DamagedFrames(video), frames);
    EXPECT_EQ(video.FrameCount().value(), frames);
  }
  EXPECT_GT(keyframes, 1u);
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

class OggStart : public StreamStart {};

TEST_P(OggStart, ABroadcastBeginsAtAnyPage) {
  std::string bytes;
  size_t left_out = 0;
  for (const std::string& page : PagesOf(ReadBytes(whole_))) {
    const bool is_header = page.substr(6, 8) == std::string(8, '\0');
    if (is_header || ++left_out > 5) bytes += page;
  }
  ExpectAsFfmpeg(WriteClip("broadcast.ogv", bytes));
}

// Takes the first video packet out of the stream.
const std::vector<std::string> kDropFirst = {"-bsf:v",
                                             "noise=amount=0:drop=not(n)"};

Start Theora() {
  return {"theora", {"-c:v", "libtheora", "-g", "12"}, "ogv", {"ogv"}};
}

std::vector<Start> Starts() {
  const std::vector<std::string> open = {
      "-c:v", "libx264", "-preset",      "veryfast",
      "-bf",  "3",       "-x264-params", "open-gop=1:keyint=20:min-keyint=10"};
  const std::vector<std::string> mpeg2 = {"-c:v", "mpeg2video", "-g",
                                          "12",   "-bf",        "2"};
  return {
      {"hevc",
       {"-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
        "log-level=none:keyint=20:min-keyint=10:bframes=3"},
       "mkv",
       {"mkv", "ts", "mp4"}},
      {"h264", open, "mkv", {"mkv", "mp4"}},
      {"h264_stream", open, "ts", {"ts", "mkv"}},
      {"h264_fields",
       {"-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-flags",
        "+ilme+ildct", "-x264-params",
        "open-gop=1:keyint=20:min-keyint=10:interlaced=1"},
       "ts",
       {"ts", "mkv"}},
      {"h264_refresh",
       {"-c:v", "libx264", "-preset", "veryfast", "-bf", "0", "-x264-params",
        "intra-refresh=1:keyint=20"},
       "mkv",
       {"mkv", "mp4"}},
      {"h264_refresh_b",
       {"-c:v", "libx264", "-preset", "veryfast", "-bf", "3", "-x264-params",
        "intra-refresh=1:keyint=20:b-pyramid=normal"},
       "ts",
       {"ts", "mkv"}},
      {"h264_without_idr",
       {"-c:v", "libx264", "-preset", "veryfast", "-bf", "0", "-g", "20"},
       "flv",
       {"flv", "mkv"},
       kDropFirst},
      {"mpeg1",
       {"-c:v", "mpeg1video", "-g", "12", "-bf", "2"},
       "mkv",
       {"mkv", "ts", "mp4"}},
      {"mpeg2", mpeg2, "mkv", {"mkv", "ts", "mp4"}},
      {"mpeg2_late", mpeg2, "ts", {"ts", "mkv"}, kDropFirst},
      {"mpeg2_closed",
       {"-c:v", "mpeg2video", "-g", "12", "-bf", "2", "-flags", "+cgop",
        "-sc_threshold", "1000000000"},
       "mkv",
       {"mkv", "ts", "mp4"}},
      {"mpeg4",
       {"-c:v", "mpeg4", "-g", "12", "-bf", "2"},
       "mkv",
       {"mkv", "mp4"}},
      Theora(),
  };
}

// Returns those whose keyframes can be overwritten where MP4 has them. An
// intra refresh has one keyframe, and libavformat takes zeroes in MPEG-1 for
// padding.
std::vector<Start> InMp4() {
  std::vector<Start> starts = Starts();
  std::erase_if(starts, [](const Start& start) {
    const auto& containers = start.containers;
    return start.name == "h264_refresh" || start.name == "mpeg1" ||
           std::find(containers.begin(), containers.end(), "mp4") ==
               containers.end();
  });
  return starts;
}

std::string NameOf(const testing::TestParamInfo<Start>& start) {
  return start.param.name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, StreamStart, testing::ValuesIn(Starts()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Kinds, LaterKeyframe, testing::ValuesIn(InMp4()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Kinds, OggStart, testing::Values(Theora()), NameOf);

}  // namespace
}  // namespace bulkhead::tests
