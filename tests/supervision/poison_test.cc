// SPDX-License-Identifier: Apache-2.0
//
// Tests that an input which kills workers is refused, and that no other input
// is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/distribution_options.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

// The device's option crash_at=T crashes the process that decodes timestamp T.
constexpr const char* kDevice = "shared_scope";
constexpr size_t kFrames = 120;
constexpr size_t kFatal = 60;

class Poison : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    NewHost();
    VideoDecoder video = host_->OpenVideo(clip_, {.device = "cpu"}).value();
    while (const auto frame = video.Next().value()) {
      timestamps_.push_back(frame->pts().value());
      expected_.push_back(HashOf(*frame));
    }
    ASSERT_EQ(timestamps_.size(), kFrames);
  }

  void NewHost() { host_ = Host::Create(DistributionOptions()).value(); }

  Result<VideoDecoder> Open(const std::string& file,
                            std::optional<size_t> fatal_frame = {}) {
    VideoOptions options{.device = kDevice};
    if (fatal_frame) {
      options.backend_options = {
          {"crash_at", std::to_string(timestamps_[*fatal_frame])}};
    }
    return host_->OpenVideo(file, options);
  }

  // Returns the hashes of the remaining frames, and in `end` the error after
  // them.
  static std::vector<std::string> Decode(VideoDecoder& video, Status& end) {
    std::vector<std::string> hashes;
    for (;;) {
      auto frame = video.Next();
      if (!frame) end = frame.error();
      if (!frame || !*frame) return hashes;
      hashes.push_back(HashOf(**frame));
    }
  }
  void ExpectDecodes(const std::string& file) {
    auto video = Open(file);
    ASSERT_TRUE(video) << video.error();
    Status end;
    EXPECT_EQ(Decode(*video, end), expected_);
    EXPECT_TRUE(end.ok()) << end;
    EXPECT_EQ(video->recovery().restarts, 0u);
  }

  BackendInfo Info() {
    const BackendReport report = host_->Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.name == kDevice) return backend;
    }
    return {};
  }

  std::unique_ptr<Host> host_;
  std::string clip_;
  std::vector<int64_t> timestamps_;
  std::vector<std::string> expected_;
};

TEST_F(Poison, AFrameThatKilledThreeWorkersIsRefusedWithoutAnother) {
  VideoDecoder first = Open(clip_, kFatal).value();
  Status end;
  EXPECT_EQ(Decode(first, end).size(), kFatal);
  EXPECT_EQ(end.code(), Code::kPoisonedInput) << end;
  EXPECT_EQ(first.recovery().restarts, 3u);

  VideoDecoder second = Open(clip_, kFatal).value();
  EXPECT_EQ(Decode(second, end).size(), kFatal);
  EXPECT_EQ(end.code(), Code::kPoisonedInput) << end;
  EXPECT_THAT(end.message(),
              AllOf(HasSubstr("3 workers"),
                    HasSubstr("at frame 60 and is not tried there again"),
                    HasSubstr("signal"), HasSubstr(clip_)));
  ASSERT_NE(end.exit_report(), nullptr);
  EXPECT_EQ(end.exit_report()->kind, ExitReport::Kind::kSignaled);
  EXPECT_EQ(end.exit_report()->position, "at frame 60");
  ExpectOutcome(Fault(43), "the same file again", Code::kPoisonedInput, end);
  ExpectOutcome(Fault(43), "workers that it costs again", "0",
                std::to_string(second.recovery().restarts));

  // Other positions of the input are not refused.
  const auto later = second.FrameAt(100);
  ASSERT_TRUE(later) << later.error();
  EXPECT_EQ(HashOf(*later), expected_[100]);
  EXPECT_EQ(second.FrameAt(60).error().code(), Code::kPoisonedInput);
}

TEST_F(Poison, AnInputThatCannotBeOpenedCostsNoFurtherWorker) {
  const auto first = Open(clip_, 0);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code(), Code::kPoisonedInput) << first.error();
  EXPECT_THAT(first.error().message(), HasSubstr("after 3 attempts"));
  for (int i = 0; i < 10; ++i) {
    const auto again = Open(clip_, 0);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code(), Code::kPoisonedInput) << again.error();
    EXPECT_THAT(again.error().message(),
                HasSubstr("while opening and is not tried"));
  }
  // The input is also refused under another name.
  const std::string link = TemporaryDirectory() + "/by-another-name.mp4";
  fs::remove(link);
  fs::create_hard_link(clip_, link);
  EXPECT_THAT(Open(link, 0).error().message(),
              HasSubstr("while opening and is not tried"));
  fs::remove(link);

  NewHost();
  EXPECT_THAT(Open(clip_, 0).error().message(), HasSubstr("after 3 attempts"));
}

TEST_F(Poison, TheBackendIsNotPunishedAndServesOthers) {
  const fs::path folder = TemporaryDirectory();
  for (int i = 0; i < 6; ++i) {
    const std::string copy = folder / ("copy-" + std::to_string(i) + ".mp4");
    fs::copy_file(clip_, copy, fs::copy_options::overwrite_existing);
    const auto killed = Open(copy, 0);
    ASSERT_FALSE(killed);
    EXPECT_THAT(killed.error().message(), HasSubstr("after 3 attempts"));
    ExpectDecodes(copy);
    fs::remove(copy);
  }
  ExpectDecodes(clip_);
  EXPECT_EQ(Info().state, "ready");
  EXPECT_EQ(Info().incarnation, 1u) << "its process had no part in it";
}

TEST_F(Poison, CrashesThatWereRecoveredFromAcquitTheInput) {
  for (int i = 0; i < 5; ++i) {
    VideoDecoder video = Open(clip_).value();
    for (int frame = 0; frame < 30; ++frame) ASSERT_TRUE(video.Next().value());
    const ProcessWatch worker(video.worker_pid());
    ASSERT_TRUE(worker.Signal(SIGSEGV));
    ASSERT_TRUE(worker.AwaitEnd());
    Status end;
    EXPECT_EQ(Decode(video, end).size(), kFrames - 30);
    EXPECT_TRUE(end.ok()) << end;
    EXPECT_EQ(video.recovery().restarts, 1u);
  }
}

}  // namespace
}  // namespace bulkhead::tests
