// SPDX-License-Identifier: Apache-2.0
//
// The runtime keeps the clauses that bind it: a backend that checks them
// decodes and seeks as `cpu` does.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/media/sample_files.h"
#include "tests/support/distribution_options.h"
#include "tests/support/frame_hash.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

class RuntimeClauses : public testing::Test {
 protected:
  RuntimeClauses() : host_(Host::Create(DistributionOptions()).value()) {}

  // Decodes from the start to the end, then frames here and there.
  std::vector<std::string> Visit(const std::string& file,
                                 const std::string& device) {
    auto video = host_->OpenVideo(file, {.device = device});
    EXPECT_TRUE(video) << file << ": " << video.error();
    if (!video) return {};
    std::vector<std::string> seen = HashesOfRest(*video);
    const auto frames = static_cast<int64_t>(seen.size());
    for (const int64_t frame : {frames - 1, int64_t{3}, frames / 2}) {
      const auto found = video->FrameAt(frame);
      EXPECT_TRUE(found) << file << ": " << found.error();
      if (found) seen.push_back(HashOf(*found));
    }
    return seen;
  }

  void ExpectLikeCpu(const std::string& file) {
    SCOPED_TRACE(file);
    const auto expected = Visit(file, "cpu");
    EXPECT_GT(expected.size(), 3u);
    EXPECT_EQ(Visit(file, "wary"), expected);
  }

  std::unique_ptr<Host> host_;
};

TEST_F(RuntimeClauses, AreKeptForEachCodec) {
  for (const Clip clip : {Clip::kH264, Clip::kVp9, Clip::kMpeg2, Clip::kPng}) {
    if (const auto file = Generate(clip)) ExpectLikeCpu(*file);
  }
}

// [codec-3]: the framing depends on the container.
TEST_F(RuntimeClauses, PacketsAreFramedAsTheHeaderSays) {
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  for (const char* name : {"/framing.ts", "/framing.mkv", "/framing.h264"}) {
    const std::string file = TemporaryDirectory() + name;
    ASSERT_EQ(RunFfmpeg({"-y", "-i", clip, "-c", "copy", file}).exit_code, 0);
    ExpectLikeCpu(file);
  }
  for (const SampleFile& file : MediaFiles()) {
    if (file.name.find("av1") != std::string::npos) ExpectLikeCpu(file.path);
  }
}

// [send-1], [open-3].
TEST_F(RuntimeClauses, APacketThatWasRejectedDoesNotComeAgain) {
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  auto video =
      host_->OpenVideo(clip, {.device = "wary",
                              .on_corrupt = OnCorrupt::kSkip,
                              .backend_options = {{"reject", "packet 30"}}});
  ASSERT_TRUE(video) << video.error();
  const size_t frames = HashesOfRest(*video).size();
  uint64_t damaged = 0;
  for (const DamagedRange& range : video->damage()) damaged += range.frames;
  EXPECT_GT(damaged, 0u);
  EXPECT_EQ(frames + damaged, 120u);
}

}  // namespace
}  // namespace bulkhead::tests
