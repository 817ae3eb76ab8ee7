// SPDX-License-Identifier: Apache-2.0
// Frames that the container lost: no packet of theirs can be read, so that no
// index has them.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/access/straight_pass.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

constexpr uint64_t kFrames = 100;

struct Kind {
  std::string name;
  std::vector<std::string> encoding;
  bool intra = true;       // no frame depends on another
  uint64_t slack = 0;      // by which the number that is told may be wrong
  bool has_length = true;  // the header tells how long the stream is
};

// In a container, the first keyframe behind a loss may be far.
const std::vector<Kind>& Kinds() {
  static const auto& kinds = *new std::vector<Kind>{
      {"vp8.webm", {"-an", "-c:v", "libvpx", "-g", "1", "-b:v", "400k"}},
      {"vp9.webm",
       {"-c:v", "libvpx-vp9", "-g", "25", "-cpu-used", "8", "-c:a", "libopus"},
       false},
      {"ffv1.mkv", {"-an", "-c:v", "ffv1", "-g", "1"}},
      {"h264.mkv",
       {"-c:v", "libx264", "-bf", "2", "-g", "25", "-c:a", "flac"},
       false},
      {"theora.ogv",
       {"-c:v", "libtheora", "-g", "1", "-b:v", "400k", "-c:a", "libvorbis"},
       true,
       0,
       false},
      {"h264.ts",
       {"-c:v", "libx264", "-g", "1", "-c:a", "mp2"},
       true,
       0,
       false},
      {"mjpeg.avi", {"-c:v", "mjpeg", "-c:a", "pcm_s16le"}, true, 1},
      {"flv1.flv", {"-an", "-c:v", "flv", "-g", "1"}, true, 1},
      {"wmv2.wmv", {"-c:v", "wmv2", "-g", "1", "-c:a", "wmav2"}, true, 1},
      {"fragments.mp4",
       {"-c:v", "libx264", "-bf", "2", "-g", "10", "-c:a", "aac", "-movflags",
        "frag_keyframe+empty_moov+default_base_moof"},
       false,
       0,
       false},
  };
  return kinds;
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Sums {
  uint64_t in_index = 0;
  uint64_t not_in_index = 0;
};

Sums SumsOf(const VideoDecoder& video) {
  Sums sums;
  for (const DamagedRange& range : video.damage()) {
    (range.not_in_index ? sums.not_in_index : sums.in_index) += range.frames;
    if (range.not_in_index) {
      EXPECT_FALSE(range.first_frame);
      EXPECT_FALSE(range.last_frame);
      EXPECT_TRUE(range.first_byte);
      EXPECT_LE(*range.first_byte, *range.last_byte);
    }
  }
  return sums;
}

std::vector<std::string> HashesOf(const std::vector<SeenFrame>& frames) {
  std::vector<std::string> hashes;
  for (const SeenFrame& frame : frames) hashes.push_back(frame.hash);
  return hashes;
}

// Returns what may stand behind a file: padding, tags, and where the file tells
// its end, anything.
std::vector<std::string> Tails(bool knows_end) {
  std::vector<std::string> tails = {std::string(1 << 16, '\0'),
                                    std::string(7, '\0'),
                                    "TAG" + std::string(125, 'x'), "\r\n"};
  if (!knows_end) return tails;
  std::string noise;
  uint32_t state = 1;
  while (noise.size() < 5000) {
    state = state * 1664525 + 1013904223;
    noise.push_back(static_cast<char>(state >> 24));
  }
  tails.push_back(noise);
  return tails;
}

class Container : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
    path_ = TemporaryDirectory() + "/" + GetParam().name;
    std::vector<std::string> words = {
        "-f",   "lavfi", "-i", "testsrc2=s=160x120:r=25", "-f", "lavfi", "-i",
        "sine", "-t",    "4"};
    words.insert(words.end(), GetParam().encoding.begin(),
                 GetParam().encoding.end());
    words.push_back(path_);
    if (!std::filesystem::exists(path_) && RunFfmpeg(words).exit_code != 0) {
      GTEST_SKIP() << "this machine's ffmpeg cannot make " << GetParam().name;
    }
    bytes_ = Read(path_);
  }

  std::string Write(const std::string& bytes) const {
    const std::string path =
        TemporaryDirectory() + "/damaged_" + GetParam().name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  // Loses an eighth of the file.
  std::string WriteDamaged(bool cut) const {
    const size_t at = bytes_.size() * 3 / 10;
    std::string damaged = bytes_;
    if (cut) {
      damaged.erase(at, bytes_.size() / 8);
    } else {
      std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(at),
                  bytes_.size() / 8, '\0');
    }
    return Write(damaged);
  }
  VideoDecoder Open(const std::string& path, OnCorrupt on_corrupt) {
    VideoOptions options;
    options.on_corrupt = on_corrupt;
    return host_->OpenVideo(path, options).value();
  }
  // Returns the number of samples, none of which is damaged.
  size_t SamplesOf(const std::string& path) {
    AudioDecoder audio = host_->OpenAudio(path, {}).value();
    const auto samples = audio.AllSamples();
    EXPECT_TRUE(samples) << samples.error();
    EXPECT_TRUE(audio.damage().empty());
    return samples ? samples->count() : 0;
  }
  // Reads on after each error, and returns the frames and the messages.
  static StraightPass ReadOn(VideoDecoder& video,
                             std::vector<std::string>& errors) {
    StraightPass pass;
    for (int calls = 0; calls < 1000; ++calls) {
      auto frame = video.Next();
      if (!frame) {
        EXPECT_EQ(frame.error().code(), Code::kBadInput);
        errors.push_back(frame.error().message());
        continue;
      }
      if (!*frame) return pass;
      pass.frames.push_back(See(**frame));
    }
    ADD_FAILURE() << "the pass does not end";
    return pass;
  }

  std::unique_ptr<Host> host_;
  std::string path_;
  std::string bytes_;
};

TEST_P(Container, IntactLosesNothing) {
  VideoDecoder video = Open(path_, OnCorrupt::kError);
  const StraightPass pass = DecodeStraight(video);
  EXPECT_TRUE(pass.failure.ok()) << pass.failure;
  EXPECT_EQ(pass.frames.size(), kFrames);
  EXPECT_TRUE(video.damage().empty());
}

TEST_P(Container, WhatStandsBehindItsEndIsNoLoss) {
  // Nothing tells where a transport stream ends, nor a fragmented MP4.
  const bool knows_end =
      !GetParam().name.ends_with(".ts") && !GetParam().name.ends_with(".mp4");
  for (const std::string& tail : Tails(knows_end)) {
    SCOPED_TRACE(std::to_string(tail.size()) + " bytes");
    const std::string path =
        TemporaryDirectory() + "/padded-" + GetParam().name;
    std::ofstream(path, std::ios::binary) << bytes_ << tail;
    VideoDecoder video = Open(path, OnCorrupt::kError);
    const StraightPass pass = DecodeStraight(video);
    EXPECT_TRUE(pass.failure.ok()) << pass.failure;
    EXPECT_TRUE(video.damage().empty());
    EXPECT_EQ(pass.frames.size(), kFrames);
    if (std::ranges::count(GetParam().encoding, "-an") > 0) continue;
    EXPECT_EQ(SamplesOf(path), SamplesOf(path_));
  }
}

// Zeroes that take the place of frames are no padding. A transport stream has
// no header that would tell it.
TEST_P(Container, AnEndThatIsOverwrittenIsALoss) {
  if (GetParam().name.ends_with(".ts")) return;
  std::string damaged = bytes_;
  const size_t count = damaged.size() / 10;
  std::fill_n(damaged.end() - static_cast<std::ptrdiff_t>(count), count, '\0');
  VideoDecoder video = Open(Write(damaged), OnCorrupt::kSkip);
  EXPECT_TRUE(DecodeStraight(video).failure.ok());
  EXPECT_FALSE(video.damage().empty());
}

TEST_P(Container, LostFramesAreToldAndCounted) {
  VideoDecoder intact = Open(path_, OnCorrupt::kSkip);
  const auto whole = HashesOf(DecodeStraight(intact).frames);
  for (const bool cut : {false, true}) {
    SCOPED_TRACE(cut ? "cut" : "zeroed");
    const std::string path = WriteDamaged(cut);
    VideoDecoder video = Open(path, OnCorrupt::kSkip);
    const StraightPass pass = DecodeStraight(video);
    EXPECT_TRUE(pass.failure.ok()) << pass.failure;
    const Sums sums = SumsOf(video);
    EXPECT_GT(sums.not_in_index, 0u);
    const uint64_t told =
        pass.frames.size() + sums.in_index + sums.not_in_index;
    EXPECT_NEAR(static_cast<double>(told), static_cast<double>(kFrames),
                static_cast<double>(GetParam().slack));
    EXPECT_EQ(video.FrameCount().value(), pass.frames.size() + sums.in_index);
    // What is delivered is sound, except one frame that was torn.
    size_t at = 0;
    int torn = 0;
    for (const std::string& hash : HashesOf(pass.frames)) {
      if (!GetParam().intra) break;
      const auto found = std::find(
          whole.begin() + static_cast<std::ptrdiff_t>(at), whole.end(), hash);
      if (found == whole.end()) {
        ++torn;
      } else {
        at = static_cast<size_t>(found - whole.begin()) + 1;
      }
    }
    EXPECT_LE(torn, 1);

    // With kError, one error for each, and the same frames.
    VideoDecoder strict = Open(path, OnCorrupt::kError);
    std::vector<std::string> errors;
    const StraightPass rest = ReadOn(strict, errors);
    EXPECT_EQ(HashesOf(rest.frames).size(), pass.frames.size());
    EXPECT_EQ(SumsOf(strict).not_in_index, sums.not_in_index);
    const auto damage = strict.damage();
    EXPECT_EQ(
        std::count_if(errors.begin(), errors.end(),
                      [](const std::string& error) {
                        return error.find(" lost") != error.npos ||
                               error.find(" cut off") != error.npos;
                      }),
        std::count_if(damage.begin(), damage.end(),
                      [](const auto& range) { return range.not_in_index; }));
  }
}

TEST_P(Container, AFrameElsewhereIsFoundAllTheSame) {
  const std::string path = WriteDamaged(false);
  VideoDecoder video = Open(path, OnCorrupt::kSkip);
  const StraightPass pass = DecodeStraight(video);
  VideoDecoder strict = Open(path, OnCorrupt::kError);
  for (const size_t i : {pass.frames.size() - 1, pass.frames.size() / 2,
                         size_t{0}, pass.frames.size() / 4}) {
    const auto frame =
        strict.FrameAt(static_cast<int64_t>(pass.frames[i].index));
    ASSERT_TRUE(frame) << frame.error();
    EXPECT_EQ(See(*frame), pass.frames[i]);
  }
  EXPECT_LE(SumsOf(strict).not_in_index, SumsOf(video).not_in_index);
}

TEST_P(Container, AGapIsToldOnceThoughItsWorkerDies) {
  const std::string path = WriteDamaged(false);
  VideoDecoder calm = Open(path, OnCorrupt::kError);
  std::vector<std::string> expected;
  const StraightPass pass = ReadOn(calm, expected);

  VideoDecoder video = Open(path, OnCorrupt::kError);
  std::vector<std::string> errors;
  std::vector<SeenFrame> frames;
  bool goes_on = false;  // behind an error
  for (;;) {
    auto frame = video.Next();
    if (!frame) {
      errors.push_back(frame.error().message());
      ASSERT_LE(errors.size(), expected.size()) << errors.back();
      if (video.worker_pid() > 0) kill(video.worker_pid(), SIGKILL);
      continue;
    }
    if (!*frame) break;
    goes_on |= !errors.empty();
    frames.push_back(See(**frame));
  }
  EXPECT_EQ(errors, expected);
  EXPECT_EQ(frames, pass.frames);
  // Without a frame behind, the dead worker may have told the end before.
  EXPECT_TRUE(video.recovery().restarts > 0 || !goes_on);
  EXPECT_EQ(SumsOf(video).not_in_index, SumsOf(calm).not_in_index);
  EXPECT_EQ(video.damage().size(), calm.damage().size());
}

TEST_P(Container, AFileThatIsCutOffSaysSoAtItsEnd) {
  const std::string path = Write(bytes_.substr(0, bytes_.size() * 6 / 10));
  VideoDecoder strict = Open(path, OnCorrupt::kError);
  std::vector<std::string> errors;
  const StraightPass pass = ReadOn(strict, errors);
  ASSERT_FALSE(errors.empty());
  // The frame at the cut may be damaged as well.
  EXPECT_LE(errors.size(), 2u);
  EXPECT_NE(errors.back().find("the file is cut off, it needs "),
            std::string::npos)
      << errors.back();
  EXPECT_NE(errors.back().find("has " + std::to_string(bytes_.size() * 6 / 10)),
            std::string::npos)
      << errors.back();
  const Sums sums = SumsOf(strict);
  const uint64_t told = pass.frames.size() + sums.in_index + sums.not_in_index;
  if (GetParam().has_length) {
    EXPECT_NEAR(static_cast<double>(told), static_cast<double>(kFrames), 1);
  } else {
    EXPECT_GT(sums.not_in_index, 0u);
    EXPECT_LE(told, kFrames);
  }
  VideoDecoder skipping = Open(path, OnCorrupt::kSkip);
  const StraightPass skipped = DecodeStraight(skipping);
  EXPECT_TRUE(skipped.failure.ok()) << skipped.failure;
  EXPECT_EQ(HashesOf(skipped.frames).size(), pass.frames.size());
  EXPECT_EQ(SumsOf(skipping).not_in_index, sums.not_in_index);
}

TEST(ContainerTest, WhatStandsBehindTheLastFrameOfIvfIsNoLoss) {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  const auto host = Host::Create(options).value();
  const std::string path = TemporaryDirectory() + "/tail.ivf";
  if (RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=2", "-c:v",
                 "libvpx", path})
          .exit_code != 0) {
    GTEST_SKIP() << "this machine's ffmpeg cannot make IVF";
  }
  const std::string bytes = Read(path);
  for (const std::string& tail : Tails(/*knows_end=*/true)) {
    SCOPED_TRACE(std::to_string(tail.size()) + " bytes");
    std::ofstream(path, std::ios::binary) << bytes << tail;
    VideoDecoder video = host->OpenVideo(path, {}).value();
    const StraightPass pass = DecodeStraight(video);
    EXPECT_TRUE(pass.failure.ok()) << pass.failure;
    EXPECT_TRUE(video.damage().empty());
    EXPECT_EQ(pass.frames.size(), 50u);
  }
}

// The index at the end of the file is found without the list of chunks.
TEST(ContainerTest, FramesLostWithTheListOfChunksOfAviAreCounted) {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  const auto host = Host::Create(options).value();
  const std::string path = TemporaryDirectory() + "/list.avi";
  for (const char* codec : {"mjpeg", "mpeg4"}) {
    if (RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=s=160x120:r=25", "-f",
                   "lavfi", "-i", "sine", "-t", "4", "-c:v", codec, "-g", "10",
                   "-c:a", "pcm_s16le", path})
            .exit_code != 0) {
      GTEST_SKIP() << "this machine's ffmpeg cannot make AVI";
    }
    const std::string bytes = Read(path);
    const size_t list = bytes.find("movi") - 8;
    size_t end = list;
    for (int lost = 1; lost <= 15; ++lost) {
      end = bytes.find("00dc", end + 4);
      if (lost % 7 != 1) continue;
      for (const bool cut : {false, true}) {
        SCOPED_TRACE(std::string(codec) + (cut ? ", cut, " : ", zeroed, ") +
                     std::to_string(lost));
        std::string damaged = bytes;
        if (cut) {
          damaged.erase(list, end + 4 - list);
        } else {
          std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(list),
                      end + 20 - list, '\0');
        }
        std::ofstream(path, std::ios::binary) << damaged;
        VideoDecoder video =
            host->OpenVideo(path, {.on_corrupt = OnCorrupt::kSkip}).value();
        const StraightPass pass = DecodeStraight(video);
        EXPECT_TRUE(pass.failure.ok()) << pass.failure;
        const Sums sums = SumsOf(video);
        EXPECT_EQ(sums.not_in_index, static_cast<uint64_t>(lost));
        EXPECT_EQ(pass.frames.size() + sums.in_index + sums.not_in_index,
                  kFrames);
      }
    }
  }
}

// libavformat reads no further than to a packet that the file has no bytes for.
TEST(ContainerTest, FramesBehindAPlaceOutsideOfMp4AreLost) {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  const auto host = Host::Create(options).value();
  const std::string path = TemporaryDirectory() + "/places.mp4";
  if (RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=s=160x120:r=25", "-f", "lavfi",
                 "-i", "sine", "-t", "4", "-c:v", "mpeg4", "-g", "1", "-c:a",
                 "aac", path})
          .exit_code != 0) {
    GTEST_SKIP() << "this machine's ffmpeg cannot make MP4";
  }
  std::string bytes = Read(path);
  constexpr size_t kTableBytes = 12;  // its name, its version, its length
  const size_t table = bytes.find("stco", bytes.find("moov"));
  bytes[table + kTableBytes + size_t{20} * 4] ^= 0x10;
  std::ofstream(path, std::ios::binary) << bytes;
  VideoDecoder video =
      host->OpenVideo(path, {.on_corrupt = OnCorrupt::kSkip}).value();
  const StraightPass pass = DecodeStraight(video);
  EXPECT_TRUE(pass.failure.ok()) << pass.failure;
  EXPECT_LT(pass.frames.size(), kFrames);
  const Sums sums = SumsOf(video);
  EXPECT_EQ(pass.frames.size() + sums.in_index + sums.not_in_index, kFrames);
}

// A chunk without bytes stands for a frame that is shown longer.
TEST(ContainerTest, ChunksOfAviWithoutBytesAreNoFrames) {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  const auto host = Host::Create(options).value();
  const std::string made = TemporaryDirectory() + "/chunks.mkv";
  const std::string path = TemporaryDirectory() + "/chunks.avi";
  if (RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=s=160x120:r=25", "-f", "lavfi",
                 "-i", "sine", "-t", "4", "-c:v", "mjpeg", "-c:a", "pcm_s16le",
                 made})
              .exit_code != 0 ||
      RunFfmpeg({"-i", made, "-c", "copy", path}).exit_code != 0) {
    GTEST_SKIP() << "this machine's ffmpeg cannot make AVI";
  }
  const std::string bytes = Read(path);
  const auto at = static_cast<std::ptrdiff_t>(bytes.size() / 2);
  std::string zeroed = bytes;
  std::fill_n(zeroed.begin() + at, 20000, '\0');
  std::string cut_out = bytes;
  cut_out.erase(bytes.size() / 2, 20000);
  const std::string cut_off = bytes.substr(0, bytes.size() / 2);
  for (const std::string& damaged : {bytes, zeroed, cut_out, cut_off}) {
    SCOPED_TRACE(std::to_string(damaged.size()) + " bytes");
    std::ofstream(path, std::ios::binary) << damaged;
    VideoDecoder video =
        host->OpenVideo(path, {.on_corrupt = OnCorrupt::kSkip}).value();
    const StraightPass pass = DecodeStraight(video);
    EXPECT_TRUE(pass.failure.ok()) << pass.failure;
    const Sums sums = SumsOf(video);
    EXPECT_NEAR(static_cast<double>(pass.frames.size() + sums.in_index +
                                    sums.not_in_index),
                kFrames, damaged == cut_off ? 2 : 0);
    EXPECT_EQ(video.damage().empty(), damaged == bytes);
    if (damaged == cut_off) continue;
    EXPECT_EQ(video.metadata().frame_count_from_header, kFrames);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Container, testing::ValuesIn(Kinds()),
                         [](const auto& kind) {
                           std::string name = kind.param.name;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace bulkhead::tests
