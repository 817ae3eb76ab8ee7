// SPDX-License-Identifier: Apache-2.0
//
// Tests that the reference backends decode the same with start = "exec" as with
// clones.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/sample_files.h"
#include "tests/support/frame_hash.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

// Limits how many frames of each sample file are decoded. The generated clips
// are decoded to their ends.
constexpr size_t kFramesOfSamples = 20;

class SameFrames : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    cloning_ = Host::Create(options).value();
    options.backends_exec = {{"*"}};
    loading_ = Host::Create(options).value();
  }

  std::vector<std::string> Decode(Host& host, const std::string& path,
                                  size_t most) {
    return HashesOrError(host, path, {.device = GetParam()}, most);
  }

  std::unique_ptr<Host> cloning_;
  std::unique_ptr<Host> loading_;
};

TEST_P(SameFrames, OfGeneratedClips) {
  for (const Clip clip : AllClips()) {
    const auto path = Generate(clip);
    if (!path) GTEST_SKIP() << path.error();
    const auto frames = Decode(*loading_, *path, SIZE_MAX);
    EXPECT_GE(frames.size(), 20u) << ClipName(clip);
    EXPECT_EQ(frames, Decode(*cloning_, *path, SIZE_MAX)) << ClipName(clip);
  }
}

TEST_P(SameFrames, OfSampleFiles) {
  const std::vector<SampleFile> files = MediaFiles();
  if (files.empty()) GTEST_SKIP() << WhyNoSamples();
  for (const SampleFile& file : files) {
    EXPECT_EQ(Decode(*loading_, file.path, kFramesOfSamples),
              Decode(*cloning_, file.path, kFramesOfSamples))
        << file.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Start, SameFrames, testing::Values("cpu", "openreg"));

}  // namespace
}  // namespace bulkhead::tests
