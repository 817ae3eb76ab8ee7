// SPDX-License-Identifier: Apache-2.0
// Blocks of Matroska that libavformat does not give, and one that is torn.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/access/straight_pass.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

constexpr uint64_t kFrames = 100;

struct Block {
  size_t data;  // the offset of its content
  size_t size;
  char track;
};

// Returns the blocks of a file, by the elements of its clusters.
std::vector<Block> BlocksOf(const std::string& bytes) {
  const auto byte = [&bytes](size_t at) {
    return at < bytes.size() ? static_cast<uint8_t>(bytes[at]) : uint8_t{0};
  };
  const auto length = [&byte](size_t at) {
    return byte(at) == 0 ? size_t{8}
                         : static_cast<size_t>(__builtin_clz(byte(at)) - 23);
  };
  std::vector<Block> blocks;
  size_t at = bytes.find("\x1a\x45\xdf\xa3");
  while (at < bytes.size()) {
    const size_t id = length(at);
    const size_t digits = length(at + id);
    uint64_t size = byte(at + id) & (0xffU >> digits);
    for (size_t i = 1; i < digits; ++i) size = size << 8 | byte(at + id + i);
    const size_t data = at + id + digits;
    const bool has_blocks = bytes.compare(at, 4, "\x18\x53\x80\x67") == 0 ||
                            bytes.compare(at, 4, "\x1f\x43\xb6\x75") == 0;
    if (byte(at) == 0xa3) blocks.push_back({data, size, bytes[data]});
    at = has_blocks ? data : data + size;
  }
  return blocks;
}

class Matroska : public testing::Test {
 protected:
  void SetUp() override {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
  }

  // Makes a clip of four seconds. Returns false if this machine cannot.
  bool Make(const std::vector<std::string>& encoding) {
    path_ = TemporaryDirectory() + "/blocks.webm";
    std::vector<std::string> words = {
        "-f",   "lavfi", "-i", "testsrc2=s=160x120:r=25", "-f", "lavfi", "-i",
        "sine", "-t",    "4"};
    words.insert(words.end(), encoding.begin(), encoding.end());
    words.push_back(path_);
    if (RunFfmpeg(words).exit_code != 0) return false;
    std::ifstream file(path_, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    return true;
  }
  void Write(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  VideoDecoder Open() {
    return host_->OpenVideo(path_, {.on_corrupt = OnCorrupt::kSkip}).value();
  }

  std::unique_ptr<Host> host_;
  std::string path_;
  std::string bytes_;
};

// libavformat leaves the rest of a cluster out behind lacing that it cannot
// read, in silence.
TEST_F(Matroska, WhatIsBehindUnreadableLacingIsLost) {
  if (!Make({"-c:v", "libvpx-vp9", "-g", "25", "-cpu-used", "8", "-c:a",
             "libopus"})) {
    GTEST_SKIP() << "this machine's ffmpeg cannot make WebM";
  }
  const auto blocks = BlocksOf(bytes_);
  const AudioSamples whole =
      host_->OpenAudio(path_, {}).value().AllSamples().value();
  for (const char track : {'\x81', '\x82'}) {
    std::vector<Block> own;
    std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(own),
                 [&](const Block& block) { return block.track == track; });
    ASSERT_GT(own.size(), 50u);
    for (const size_t i : {size_t{10}, own.size() / 2, own.size() - 5}) {
      SCOPED_TRACE("block " + std::to_string(i) + " of track " +
                   std::to_string(track & 0x7f));
      std::string damaged = bytes_;
      damaged[own[i].data + 3] |= 2;  // lengths as in Xiph's formats
      Write(damaged);
      if (track == '\x81') {
        VideoDecoder video = Open();
        uint64_t told = DecodeStraight(video).frames.size();
        EXPECT_LT(told, kFrames);
        for (const auto& range : video.damage()) told += range.frames;
        EXPECT_EQ(told, kFrames);
        VideoDecoder strict = host_->OpenVideo(path_, {}).value();
        EXPECT_FALSE(DecodeStraight(strict).failure.ok());
      } else {
        AudioDecoder audio =
            host_->OpenAudio(path_, {.on_corrupt = OnCorrupt::kSkip}).value();
        EXPECT_NEAR(static_cast<double>(audio.AllSamples().value().count()),
                    static_cast<double>(whole.count()), 960);
        EXPECT_FALSE(audio.damage().empty());
        AudioDecoder strict = host_->OpenAudio(path_, {}).value();
        EXPECT_FALSE(strict.AllSamples());
      }
    }
  }
}

// The file is then smaller than its header tells, like one that lacks its end.
TEST_F(Matroska, ABlockWhoseEndWasCutOutIsTorn) {
  if (!Make({"-an", "-c:v", "libvpx", "-g", "1000", "-cluster_time_limit",
             "60000", "-cluster_size_limit", "9000000"})) {
    GTEST_SKIP() << "this machine's ffmpeg cannot make WebM";
  }
  std::set<std::string> whole;
  VideoDecoder intact = Open();
  for (const auto& frame : DecodeStraight(intact).frames) {
    whole.insert(frame.hash);
  }
  const Block torn = BlocksOf(bytes_).at(60);
  std::string damaged = bytes_;
  damaged.erase(torn.data + torn.size - 200, 20000);
  Write(damaged);
  VideoDecoder video = Open();
  const StraightPass pass = DecodeStraight(video);
  uint64_t told = pass.frames.size();
  for (const SeenFrame& frame : pass.frames) {
    EXPECT_TRUE(whole.contains(frame.hash)) << "frame " << frame.index;
  }
  for (const auto& range : video.damage()) told += range.frames;
  EXPECT_EQ(told, kFrames);
}

}  // namespace
}  // namespace bulkhead::tests
