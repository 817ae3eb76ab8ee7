// SPDX-License-Identifier: Apache-2.0
// Files that are cut off, also between two packets, whose headers tell what
// they should have.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "bulkhead/audio_decoder.h"
#include "bulkhead/host.h"
#include "tests/access/straight_pass.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Kind {
  std::string name;
  std::vector<std::string> encoding;
  std::string told;  // "bytes", "frames" or "samples": what the error names
  // The last bytes that can be missing without a loss: an index, a checksum.
  size_t tail = 1;
  bool is_exact = true;  // the number of what is lost
};

class CutEnd : public testing::TestWithParam<Kind> {
 protected:
  void Make(const std::vector<std::string>& source) {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
    path_ = TemporaryDirectory() + "/" + GetParam().name;
    std::vector<std::string> words = source;
    words.insert(words.end(), GetParam().encoding.begin(),
                 GetParam().encoding.end());
    words.push_back(path_);
    if (!std::filesystem::exists(path_) && RunFfmpeg(words).exit_code != 0) {
      GTEST_SKIP() << "this machine's ffmpeg cannot make " << GetParam().name;
    }
    bytes_ = Read(path_);
  }
  std::string Write(size_t size) const {
    const std::string path = TemporaryDirectory() + "/cut_" + GetParam().name;
    std::ofstream(path, std::ios::binary) << bytes_.substr(0, size);
    return path;
  }
  // Returns the places of the packets in the file.
  std::vector<size_t> Packets(const std::string& streams) const {
    std::vector<size_t> places;
    if (path_.ends_with(".apng")) {
      for (size_t at = 0; (at = bytes_.find("fcTL", at)) != bytes_.npos; ++at) {
        places.push_back(at - 4);
      }
      return places;
    }
    const auto listed =
        RunProgram({"ffprobe", "-v", "error", "-select_streams", streams,
                    "-show_entries", "packet=pos", "-of", "csv=p=0", path_});
    std::istringstream lines(listed.output);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line[0] >= '0' && line[0] <= '9') {
        places.push_back(std::stoul(line));
      }
    }
    std::sort(places.begin(), places.end());
    return places;
  }
  // Returns sizes to cut the file to, the last of them just before its tail.
  std::vector<size_t> Cuts() const {
    std::vector<size_t> cuts;
    for (size_t part = 6; part < 10; ++part) {
      cuts.push_back(bytes_.size() * part / 10 + part);
    }
    cuts.push_back(bytes_.size() - GetParam().tail);
    return cuts;
  }

  std::unique_ptr<Host> host_;
  std::string path_;
  std::string bytes_;
};

class VideoCutEnd : public CutEnd {
 protected:
  static constexpr uint64_t kFrames = 100;
  void SetUp() override {
    Make({"-f", "lavfi", "-i", "testsrc2=s=160x120:r=25", "-t", "4"});
  }
  VideoDecoder Open(const std::string& path, OnCorrupt on_corrupt) {
    VideoOptions options;
    options.on_corrupt = on_corrupt;
    return host_->OpenVideo(path, options).value();
  }
  void Check(size_t size, bool between_packets) {
    SCOPED_TRACE(size);
    const std::string path = Write(size);
    VideoDecoder skipping = Open(path, OnCorrupt::kSkip);
    const StraightPass pass = DecodeStraight(skipping);
    EXPECT_TRUE(pass.failure.ok()) << pass.failure;
    uint64_t told = pass.frames.size();
    for (const DamagedRange& range : skipping.damage()) told += range.frames;
    EXPECT_LT(pass.frames.size(), kFrames);
    EXPECT_NEAR(static_cast<double>(told), static_cast<double>(kFrames),
                GetParam().is_exact ? 0 : 2);
    if (!between_packets) return;
    VideoDecoder strict = Open(path, OnCorrupt::kError);
    const StraightPass rest = DecodeStraight(strict);
    EXPECT_EQ(rest.frames.size(), pass.frames.size());
    const std::string message = rest.failure.message();
    EXPECT_NE(message.find("the file is cut off"), message.npos) << message;
    EXPECT_NE(message.find(GetParam().told), message.npos) << message;
    if (GetParam().told == "bytes") {
      EXPECT_NE(message.find(", by "), message.npos) << message;
      EXPECT_NE(message.find("tells 4.0"), message.npos) << message;
    }
    EXPECT_NE(message.find(GetParam().told == "frames"
                               ? "tells 100 frames and it has " +
                                     std::to_string(pass.frames.size())
                               : "has " + std::to_string(size)),
              message.npos)
        << message;
  }
};

TEST_P(VideoCutEnd, IsToldWhereverItIs) {
  VideoDecoder intact = Open(path_, OnCorrupt::kError);
  const StraightPass whole = DecodeStraight(intact);
  ASSERT_TRUE(whole.failure.ok()) << whole.failure;
  ASSERT_EQ(whole.frames.size(), kFrames);
  EXPECT_TRUE(intact.damage().empty());
  for (const size_t size : Cuts()) Check(size, false);
}

TEST_P(VideoCutEnd, IsToldBetweenTwoPackets) {
  const std::vector<size_t> places = Packets("v");
  ASSERT_GE(places.size(), 10u);
  for (const size_t i : {places.size() / 2, places.size() - 1}) {
    Check(places[i], true);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, VideoCutEnd,
    testing::Values(
        Kind{"vp8.ivf", {"-c:v", "libvpx", "-deadline", "realtime"}, "frames"},
        Kind{"pictures.apng", {"-c:v", "apng"}, "frames", 30},
        Kind{"wmv2.wmv", {"-c:v", "wmv2"}, "bytes", 4000, false},
        Kind{"flv1.flv", {"-c:v", "flv"}, "bytes", 30},
        Kind{"rv20.rm", {"-c:v", "rv20"}, "bytes", 30, false},
        Kind{"mpeg2.mxf", {"-c:v", "mpeg2video"}, "bytes", 4000, false},
        Kind{"bframes.flv",
             {"-c:v", "libx264", "-bf", "2"},
             "bytes",
             30,
             false}),
    [](const auto& kind) {
      std::string name = kind.param.name;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

// Nothing tells how many frames there were, but the last one is torn.
class TornEnd : public VideoCutEnd {};

TEST_P(TornEnd, IsToldInOneFrame) {
  VideoDecoder intact = Open(path_, OnCorrupt::kError);
  const StraightPass whole = DecodeStraight(intact);
  ASSERT_TRUE(whole.failure.ok()) << whole.failure;
  ASSERT_EQ(whole.frames.size(), kFrames);
  for (const size_t size : Cuts()) {
    SCOPED_TRACE(size);
    const std::string path = Write(size);
    VideoDecoder skipping = Open(path, OnCorrupt::kSkip);
    const StraightPass pass = DecodeStraight(skipping);
    EXPECT_TRUE(pass.failure.ok()) << pass.failure;
    ASSERT_EQ(skipping.damage().size(), 1u);
    EXPECT_EQ(skipping.damage()[0].frames, 1u);
    EXPECT_EQ(pass.frames,
              std::vector(whole.frames.begin(),
                          whole.frames.begin() +
                              static_cast<std::ptrdiff_t>(pass.frames.size())));
    VideoDecoder strict = Open(path, OnCorrupt::kError);
    const std::string message = DecodeStraight(strict).failure.message();
    EXPECT_NE(message.find(GetParam().told), message.npos) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, TornEnd,
    testing::Values(
        Kind{"gif.gif", {"-c:v", "gif"}, "the file is cut off", 3},
        Kind{"planes.y4m", {"-pix_fmt", "yuv422p"}, "the file is cut off"},
        Kind{"raw.dv",
             {"-s", "720x576", "-pix_fmt", "yuv420p", "-c:v", "dvvideo"},
             "is damaged"}),
    [](const auto& kind) {
      std::string name = kind.param.name;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

class AudioCutEnd : public CutEnd {
 protected:
  void SetUp() override {
    Make({"-f", "lavfi", "-i", "sine=frequency=300:sample_rate=44100", "-t",
          "4"});
  }
  AudioDecoder Open(const std::string& path, OnCorrupt on_corrupt) {
    return host_->OpenAudio(path, {.on_corrupt = on_corrupt}).value();
  }
};

TEST_P(AudioCutEnd, IsToldWhereverItIs) {
  AudioDecoder intact = Open(path_, OnCorrupt::kError);
  const auto whole = intact.AllSamples();
  ASSERT_TRUE(whole) << whole.error();
  EXPECT_TRUE(intact.damage().empty());
  const size_t samples = whole->count();
  std::vector<size_t> cuts = Cuts();
  const std::vector<size_t> places = Packets("a");
  // A part of FLAC that was copied looks like one that was cut off there
  // (tests/audio:audio_torn_end_test).
  if (places.size() > 10 && !path_.ends_with(".flac")) {
    cuts.push_back(places[places.size() / 2]);
    cuts.push_back(places.back());
  }
  for (const size_t size : cuts) {
    SCOPED_TRACE(size);
    const std::string path = Write(size);
    AudioDecoder skipping = Open(path, OnCorrupt::kSkip);
    const auto skipped = skipping.AllSamples();
    ASSERT_TRUE(skipped) << skipped.error();
    const auto damage = skipping.damage();
    ASSERT_EQ(damage.size(), 1u);
    // Frames of MP3 that are missing as a whole may have been anywhere.
    const bool between =
        std::find(places.begin(), places.end(), size) != places.end();
    EXPECT_EQ(damage[0].estimated,
              !GetParam().is_exact || (between && path_.ends_with(".mp3")));
    EXPECT_EQ(static_cast<size_t>(damage[0].first_sample + damage[0].samples),
              skipped->count());
    if (GetParam().is_exact) {
      EXPECT_EQ(skipped->count(), samples);
    }
    // What comes is what the intact file has; the decoder of WMA ends with half
    // of a block that would overlap the next one.
    constexpr int64_t kWmaBlock = 2048;
    const int64_t sound =
        damage[0].first_sample - (GetParam().is_exact ? 0 : kWmaBlock);
    EXPECT_TRUE(std::equal(whole->channel(0).begin(),
                           whole->channel(0).begin() + sound,
                           skipped->channel(0).begin()));
    AudioDecoder strict = Open(path, OnCorrupt::kError);
    const auto all = strict.AllSamples();
    ASSERT_FALSE(all);
    const std::string message = all.error().message();
    EXPECT_NE(message.find("the file is cut off"), message.npos) << message;
    EXPECT_NE(message.find(GetParam().told == "samples"
                               ? "tells " + std::to_string(samples) +
                                     " samples and it has "
                               : "has " + std::to_string(size)),
              message.npos)
        << message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, AudioCutEnd,
    testing::Values(
        Kind{"lame.mp3", {"-c:a", "libmp3lame"}, "samples"},
        Kind{"vbr.mp3", {"-c:a", "libmp3lame", "-q:a", "3"}, "samples"},
        Kind{"pcm.aiff", {"-c:a", "pcm_s16be"}, "bytes"},
        Kind{"pcm.au", {"-c:a", "pcm_s16be"}, "bytes"},
        Kind{"pcm.caf", {"-c:a", "pcm_s16be"}, "bytes"},
        Kind{"pcm.wav", {"-c:a", "pcm_s16le"}, "bytes"},
        Kind{"flac.flac", {"-c:a", "flac"}, "samples"},
        Kind{"tta.tta", {"-c:a", "tta"}, "samples", 2000},
        Kind{"wavpack.wv", {"-c:a", "wavpack"}, "samples", 2000},
        Kind{"mp3.avi", {"-c:a", "libmp3lame"}, "bytes", 3000, false},
        Kind{"wmav2.wma", {"-c:a", "wmav2"}, "bytes", 4000, false}),
    [](const auto& kind) {
      std::string name = kind.param.name;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

}  // namespace
}  // namespace bulkhead::tests
