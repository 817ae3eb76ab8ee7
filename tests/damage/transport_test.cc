// SPDX-License-Identifier: Apache-2.0
//
// Transport streams that are damaged anywhere: bytes that are missing, zeroed
// or put in, and ends that are cut off. Whatever the decoder and the number of
// its threads, no picture that differs from that of the intact file is
// delivered as sound, and no file that lacks a frame is without an error.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/access/straight_pass.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

struct Codec {
  const char* name;
  std::vector<std::string> words;
};

std::vector<Codec> Codecs() {
  return {
      {"h264", {"-c:v", "libx264", "-g", "12", "-bf", "2"}},
      {"hevc",
       {"-c:v", "libx265", "-x265-params",
        "keyint=12:bframes=3:log-level=none:pools=none"}},
      {"mpeg2", {"-c:v", "mpeg2video", "-g", "12", "-bf", "2"}},
  };
}

class Transport : public testing::TestWithParam<Codec> {
 protected:
  void SetUp() override {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
  }

  StraightPass Decode(const std::string& path, OnCorrupt on_corrupt,
                      uint32_t threads) {
    VideoDecoder video = host_
                             ->OpenVideo(path, {.device = "cpu",
                                                .threads = threads,
                                                .on_corrupt = on_corrupt})
                             .value();
    return DecodeStraight(video);
  }

  // Returns a file with one damaged place. The bytes that are zeroed hold at
  // least one packet that is lost: less of it may decode, and look sound.
  std::string Damage(const std::string& whole) {
    std::string bytes = whole;
    const size_t at = whole.size() / 8 + random_() % (whole.size() * 3 / 4);
    const size_t sizes[] = {1, 100, 500, 1500, 16 * 188 + 7, 6000};
    const size_t size = sizes[random_() % std::size(sizes)];
    switch (random_() % 4) {
      case 0:
        return bytes.erase(at, size);
      case 1:
        return bytes.replace(at, size + 400, std::string(size + 400, '\0'));
      case 2:
        return bytes.insert(at, std::string(size, 'x'));
      default:
        return bytes.substr(0, at);
    }
  }

  std::unique_ptr<Host> host_;
  std::mt19937 random_{7};
};

TEST_P(Transport, NothingWrongIsSound) {
  const std::string name = GetParam().name;
  const std::string path = TemporaryDirectory() + "/intact_" + name + ".ts";
  std::vector<std::string> words = {"-f", "lavfi", "-i",
                                    "testsrc2=size=176x144:rate=25:duration=4"};
  words.insert(words.end(), GetParam().words.begin(), GetParam().words.end());
  words.insert(words.end(), {"-pix_fmt", "yuv420p", "-threads", "1", path});
  const ProgramResult made = RunFfmpeg(words);
  if (!made.started || made.exit_code != 0) {
    GTEST_SKIP() << "ffmpeg cannot make the clip: " << made.Describe();
  }
  const StraightPass intact = Decode(path, OnCorrupt::kError, 1);
  ASSERT_TRUE(intact.failure.ok()) << intact.failure;
  std::map<int64_t, std::string> expected;
  for (const SeenFrame& frame : intact.frames) {
    expected[frame.pts.value()] = frame.hash;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  for (int round = 0; round < 30; ++round) {
    const std::string damaged =
        TemporaryDirectory() + "/" + std::to_string(round) + name + ".ts";
    std::ofstream(damaged, std::ios::binary) << Damage(whole);
    SCOPED_TRACE(damaged);
    for (const uint32_t threads : {1u, 4u}) {
      for (const OnCorrupt how : {OnCorrupt::kError, OnCorrupt::kSkip}) {
        const StraightPass pass = Decode(damaged, how, threads);
        for (const SeenFrame& frame : pass.frames) {
          EXPECT_EQ(frame.hash, expected[frame.pts.value()])
              << threads << " threads: " << Describe(frame);
        }
        if (how == OnCorrupt::kError && pass.failure.ok()) {
          EXPECT_EQ(pass.frames.size(), intact.frames.size());
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, Transport, testing::ValuesIn(Codecs()),
                         [](const auto& test) {
                           return std::string(test.param.name);
                         });

}  // namespace
}  // namespace bulkhead::tests
