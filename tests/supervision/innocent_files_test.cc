// SPDX-License-Identifier: Apache-2.0
//
// Tests that no file, however made, takes a backend away from anybody.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "bulkhead/host.h"
#include "core/base/testing/temporary_tree.h"
#include "tests/media/overlapping_chunks.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

constexpr uint32_t kPackets = 40'000;
// One more than the failures that quarantine a backend.
constexpr uint8_t kFiles = 6;

class InnocentFiles : public testing::TestWithParam<const char*> {
 protected:
  HostOptions Options() const {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    options.state_directory = state_.path();
    return options;
  }
  VideoOptions Stream() const { return {.device = GetParam()}; }

  const TemporaryTree files_;
  const TemporaryTree state_;
};

// An honest worker comes across more frames than the file has bytes.
TEST_P(InnocentFiles, ManyPacketsOfTheSameBytesAreFramesLikeOthers) {
  const auto host = Host::Create(Options()).value();
  for (uint8_t shade = 0; shade < kFiles; ++shade) {
    SCOPED_TRACE(shade);
    const std::string path = files_ / (std::to_string(shade) + ".mov");
    const uint32_t frames = WriteOverlappingChunks(path, kPackets, shade);
    ASSERT_LT(std::filesystem::file_size(path), frames);
    auto video = host->OpenVideo(path, Stream());
    ASSERT_TRUE(video) << video.error();
    ASSERT_EQ(video->FrameCount().value(), frames);
    const auto last = video->FrameAt(frames - 1);
    ASSERT_TRUE(last) << last.error();
    EXPECT_EQ(last->index(), frames - 1);
    EXPECT_EQ(video->recovery().restarts, 0u);
  }
  EXPECT_TRUE(std::filesystem::is_empty(state_.path()));
}

TEST_P(InnocentFiles, MoreFramesThanTheLimitAreAnErrorThatNamesIt) {
  HostOptions options = Options();
  options.limits.index_frames = 1'000;
  const auto host = Host::Create(options).value();
  const std::string path = files_ / "many.mov";
  WriteOverlappingChunks(path, kPackets, 0);
  for (int i = 0; i < kFiles; ++i) {
    auto video = host->OpenVideo(path, Stream());
    ASSERT_TRUE(video) << video.error();
    const auto frame = video->FrameAt(kPackets - 1);
    ASSERT_FALSE(frame);
    EXPECT_EQ(frame.error().code(), Code::kResourceExhausted) << frame.error();
    EXPECT_NE(frame.error().message().find("index_frames"), std::string::npos)
        << frame.error();
  }
  // The backend serves on.
  auto video = host->OpenVideo(path, Stream());
  ASSERT_TRUE(video) << video.error();
  EXPECT_TRUE(video->Next().value());
}

INSTANTIATE_TEST_SUITE_P(Devices, InnocentFiles,
                         testing::Values("cpu", "openreg:0"),
                         [](const auto& device) {
                           return std::string(device.param).substr(0, 3);
                         });

}  // namespace
}  // namespace bulkhead::tests
