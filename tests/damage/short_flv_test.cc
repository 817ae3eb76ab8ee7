// SPDX-License-Identifier: Apache-2.0
// FLV files that lack whole tags, which only the size in their header tells,
// and FLV files that are joined.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "bulkhead/audio_decoder.h"
#include "bulkhead/host.h"
#include "tests/access/straight_pass.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

constexpr uint64_t kFrames = 100;
constexpr int kPictures = 9;

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns `bytes` without the tags of this kind with these numbers.
std::string Without(const std::string& bytes, int kind, size_t first,
                    size_t last) {
  constexpr size_t kHeader = 13;
  std::string rest = bytes.substr(0, kHeader);
  size_t number = 0;
  for (size_t at = kHeader; at + 11 <= bytes.size();) {
    const auto byte = [&bytes, at](size_t i) {
      return size_t{static_cast<unsigned char>(bytes[at + i])};
    };
    const size_t size = (byte(1) << 16 | byte(2) << 8 | byte(3)) + 15;
    const bool is_kind = byte(0) == static_cast<size_t>(kind);
    if (!is_kind || number < first || number > last) {
      rest += bytes.substr(at, size);
    }
    number += is_kind ? 1 : 0;
    at += size;
  }
  return rest;
}

class ShortFlv : public testing::Test {
 protected:
  void SetUp() override {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
  }
  // Makes a file of intra frames, and returns its bytes.
  static std::string Make(const std::vector<std::string>& encoding) {
    const std::string path = TemporaryDirectory() + "/whole.flv";
    std::vector<std::string> words = {"-y",
                                      "-f",
                                      "lavfi",
                                      "-i",
                                      "testsrc2=s=160x120:r=25",
                                      "-f",
                                      "lavfi",
                                      "-i",
                                      "sine=sample_rate=44100",
                                      "-t",
                                      "4",
                                      "-c:v",
                                      "flv",
                                      "-g",
                                      "1",
                                      "-c:a",
                                      "aac"};
    words.insert(words.end(), encoding.begin(), encoding.end());
    words.push_back(path);
    EXPECT_EQ(RunFfmpeg(words).exit_code, 0);
    return Read(path);
  }
  static std::string Write(const std::string& bytes) {
    const std::string path = TemporaryDirectory() + "/short.flv";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  VideoDecoder Open(const std::string& path, OnCorrupt on_corrupt) {
    VideoOptions options;
    options.on_corrupt = on_corrupt;
    return host_->OpenVideo(path, options).value();
  }
  // Decodes a file without some tags. Returns the number of frames that are
  // told to be lost.
  uint64_t ToldOf(const std::string& bytes, const std::string& whole) {
    const std::string path = Write(bytes);
    VideoDecoder skipping = Open(path, OnCorrupt::kSkip);
    EXPECT_TRUE(DecodeStraight(skipping).failure.ok());
    uint64_t told = 0;
    for (const DamagedRange& range : skipping.damage()) {
      EXPECT_TRUE(range.not_in_index);
      told += range.frames;
    }
    VideoDecoder strict = Open(path, OnCorrupt::kError);
    const std::string message = DecodeStraight(strict).failure.message();
    const std::string sizes = "needs " + std::to_string(whole.size()) +
                              " bytes and has " + std::to_string(bytes.size());
    EXPECT_NE(message.find(sizes), message.npos) << message;
    return told;
  }

  std::unique_ptr<Host> host_;
};

TEST_F(ShortFlv, TellsWhereTagsAreMissing) {
  const std::string whole = Make({});
  EXPECT_EQ(ToldOf(Without(whole, kPictures, 40, 42), whole), 3u);
}

TEST_F(ShortFlv, TellsThatTagsAreMissingWhereTheRateVaries) {
  const std::string whole =
      Make({"-an", "-vf", "select='not(mod(n,3))+gt(n,40)'", "-vsync", "vfr"});
  EXPECT_EQ(ToldOf(Without(whole, kPictures, 20, 20), whole), 1u);
}

TEST_F(ShortFlv, MissesNoPictureWhereTagsOfSoundAreMissing) {
  constexpr int kSound = 8;
  const std::string path = Write(Without(Make({}), kSound, 50, 51));
  VideoDecoder video = Open(path, OnCorrupt::kError);
  const StraightPass pass = DecodeStraight(video);
  EXPECT_TRUE(pass.failure.ok()) << pass.failure;
  EXPECT_EQ(pass.frames.size(), kFrames);
  EXPECT_FALSE(host_->OpenAudio(path, {})->AllSamples());
}

// The second file is not read, as with the ffmpeg command.
TEST_F(ShortFlv, EndsWhereAnotherFileIsJoined) {
  const std::string whole = Make({});
  const std::string path = Write(whole + whole);
  VideoDecoder video = Open(path, OnCorrupt::kError);
  const StraightPass pass = DecodeStraight(video);
  EXPECT_TRUE(pass.failure.ok()) << pass.failure;
  EXPECT_EQ(pass.frames.size(), kFrames);
  EXPECT_TRUE(video.damage().empty());
  const auto sound = host_->OpenAudio(path, {})->AllSamples();
  EXPECT_TRUE(sound) << sound.error();
}

}  // namespace
}  // namespace bulkhead::tests
