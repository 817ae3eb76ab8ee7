// SPDX-License-Identifier: Apache-2.0
//
// Tests that no file takes what all workers of a backend share: its tasks, its
// devices, and its good name. The hostile files are streams whose script has
// the chaos backend do it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/await.h"
#include "tests/support/frame_hash.h"
#include "tests/support/high_water.h"
#include "tests/support/refusals.h"
#include "tests/support/rows.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

// The time in which thousands of threads are started.
constexpr milliseconds kSoon{60'000};
// Of the 3072 tasks that workers may have.
constexpr int kNearlyAll = 2'900;
// More than the inputs without a frame that make a backend suspect, and than
// the losses for which a device is refused.
constexpr int kFiles = 7;

class Shares : public testing::Test {
 protected:
  void SetUp() override {
    const char* tier = std::getenv("BULKHEAD_TEST_TIER");
    if (tier != nullptr && std::string(tier) == "reduced") {
      if (geteuid() != 0) {
        GTEST_SKIP() << "in tier reduced tasks are not limited without a uid "
                        "of the backend's own";
      }
      ASSERT_TRUE(RefuseNamespaces());
    }
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    directory_ = fs::path(::getenv("TEST_TMPDIR")) / "inputs";
    fs::create_directory(directory_);
  }
  void Start() {
    HostOptions options = installation_.options();
    options.sandbox_floor = SandboxTier::kReduced;
    options.limits.restarts_per_position = 32;
    host_ = Host::Create(options).value();
    expected_ = Frames("").value();
    ASSERT_FALSE(expected_.empty());
  }

  // Decodes another file each time, with the same pictures.
  Result<std::vector<std::string>> Frames(const std::string& faults) {
    const fs::path copy = directory_ / (std::to_string(inputs_++) + ".mp4");
    fs::copy_file(clip_, copy, fs::copy_options::overwrite_existing);
    VideoOptions options = ChaosInstallation::Stream(faults);
    options.threads = 4;
    auto video = host_->OpenVideo(copy.string(), options);
    if (!video) return video.error();
    std::vector<std::string> hashes;
    for (;;) {
      const auto frame = video->Next();
      if (!frame) return frame.error();
      if (!*frame) return hashes;
      hashes.push_back(HashOf(**frame));
    }
  }
  Status Decode(const std::string& faults) {
    const auto frames = Frames(faults);
    return frames ? Status() : frames.error();
  }
  BackendInfo Backend() {
    const BackendReport report = host_->Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.name == "chaos") return backend;
    }
    return {};
  }
  // Begins a stream that takes all tasks, and waits until it has them.
  std::future<Status> Hoard() {
    fs::copy_file(clip_, directory_ / "hoard.mp4",
                  fs::copy_options::overwrite_existing);
    auto hoard = std::async(std::launch::async, [this] {
      const auto video =
          host_->OpenVideo((directory_ / "hoard.mp4").string(),
                           ChaosInstallation::Stream("at=open do=hoard"));
      return video ? Status() : video.error();
    });
    EXPECT_TRUE(Await(
        [this] {
          HighWater most;
          for (const int pid : Backend().session_pids) most.Look(pid);
          return most.threads >= kNearlyAll;
        },
        kSoon));
    return hoard;
  }
  // Decodes good files until the one that takes all tasks is given up.
  void DecodeBeside(TableRow row, std::future<Status> hoard) {
    int files = 0;
    const auto end = Clock::now() + kSoon;
    do {
      const auto frames = Frames("");
      ASSERT_TRUE(frames) << frames.error();
      ExpectSameFrames(row, "good files beside it", expected_, *frames);
      ++files;
    } while (hoard.wait_for(milliseconds(0)) != std::future_status::ready &&
             Clock::now() < end);
    ASSERT_EQ(hoard.wait_for(milliseconds(0)), std::future_status::ready);
    ExpectOutcome(row, "the file that takes them", Code::kPoisonedInput,
                  hoard.get());
    ExpectOutcome(row, "the backend", "ready", Backend().state);
    EXPECT_EQ(Backend().reason, "");
  }

  ChaosInstallation installation_;
  std::unique_ptr<Host> host_;
  std::string clip_;
  std::vector<std::string> expected_;
  fs::path directory_;
  int inputs_ = 0;
};

// libavcodec gets no thread, and the backend returns OUT_OF_MEMORY.
TEST_F(Shares, GoodFilesOpenWhileOneHasAllTasks) {
  Start();
  DecodeBeside(Escape(85), Hoard());
}

// As a decoder does that takes the want of a thread for a failure of its own.
TEST_F(Shares, ABackendThatFailsForWantOfTasksIsNotToBlame) {
  installation_.SetFaults("at=open do=need:7");
  Start();
  DecodeBeside(Escape(86), Hoard());
}

// As an application without a handler for std::system_error.
TEST_F(Shares, AFileWhoseDecoderCrashesForWantOfTasksIsNotToBlame) {
  installation_.SetFaults("at=open do=need_or_abort");
  Start();
  DecodeBeside(Escape(85), Hoard());
}

TEST_F(Shares, ADeviceIsNotLostBecauseFilesFindItSo) {
  installation_.GrantADevice();
  Start();
  for (int i = 0; i < kFiles; ++i) {
    const Status status = Decode("at=packet:0 do=error:6");
    ExpectOutcome(Escape(87), "a file that finds it lost", Code::kPoisonedInput,
                  status);
    EXPECT_THAT(status.message(), Not(HasSubstr("again and again")));
  }
  const auto frames = Frames("");
  ASSERT_TRUE(frames) << frames.error();
  ExpectSameFrames(Escape(87), "the next good file", expected_, *frames);
  ExpectOutcome(Escape(87), "the backend", "ready", Backend().state);
}

TEST_F(Shares, ACrashAmidSpinningThreadsIsACrash) {
  Start();
  for (int i = 0; i < 2; ++i) {
    const Status status =
        Decode("at=open do=crowd:400\nat=packet:0 do=segfault");
    ExpectOutcome(Escape(88), "the file that crashes", Code::kPoisonedInput,
                  status);
  }
  ExpectOutcome(Escape(88), "the backend", "ready", Backend().state);
  EXPECT_TRUE(Decode("").ok());
}

}  // namespace
}  // namespace bulkhead::tests
