// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/deadlines.h"
#include "tests/support/distribution_options.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"
#include "tests/support/rows.h"

namespace bulkhead::tests {
namespace {

constexpr const char* kDevice = "shared_scope";
// The highest number of sessions that one worker serves.
constexpr size_t kFull = 64;

// Tests worker_scope = "backend": sessions share a process until it dies, and
// only the session that is to blame for a death fails.
class WorkerScope : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    options_ = DistributionOptions();
    NewHost();
    VideoDecoder video = host_->OpenVideo(clip_, {.device = "cpu"}).value();
    while (const auto frame = video.Next().value()) {
      expected_.push_back(HashOf(*frame));
      timestamps_.push_back(frame->pts().value());
    }
    ASSERT_EQ(expected_.size(), 120u);
  }

  void NewHost() { host_ = Host::Create(options_).value(); }

  VideoDecoder Open(const std::string& option = "",
                    const std::string& value = "") {
    VideoOptions options{.device = kDevice};
    if (!option.empty()) options.backend_options = {{option, value}};
    return host_->OpenVideo(clip_, options).value();
  }

  // Opens a session that inflicts `fault` on its worker at frame 60.
  VideoDecoder OpenPoisonous(const std::string& fault) {
    return Open(fault, std::to_string(timestamps_[60]));
  }

  static std::vector<std::string> HashesOf(VideoDecoder& video) {
    std::vector<std::string> hashes;
    for (;;) {
      auto frame = video.Next();
      if (!frame) {
        ADD_FAILURE() << "frame " << hashes.size() << ": " << frame.error();
        return hashes;
      }
      if (!*frame) return hashes;
      hashes.push_back(HashOf(**frame));
    }
  }

  static void TakeFrames(VideoDecoder& video, size_t count) {
    for (size_t i = 0; i < count; ++i) ASSERT_TRUE(video.Next().value());
  }

  // Decodes until an error and returns the error.
  static Status FailureOf(VideoDecoder& video) {
    for (;;) {
      auto frame = video.Next();
      if (!frame) return std::move(frame).error();
      if (!*frame) return Status();
    }
  }

  std::vector<int> SessionPids() {
    const BackendReport report = host_->Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.name == kDevice) return backend.session_pids;
    }
    return {};
  }

  static std::set<int> WorkersOf(const std::vector<VideoDecoder>& videos) {
    std::set<int> pids;
    for (const VideoDecoder& video : videos) pids.insert(video.worker_pid());
    return pids;
  }

  // Expects that of two sessions, only the one that kills their worker fails.
  void ExpectOnlyTheGuiltyFails(TableRow row, const std::string& fault,
                                Code code) {
    VideoDecoder innocent = Open();
    VideoDecoder guilty = OpenPoisonous(fault);
    ASSERT_EQ(guilty.worker_pid(), innocent.worker_pid());
    TakeFrames(innocent, 10);
    const Status failure = FailureOf(guilty);
    ExpectOutcome(row, fault + ", the guilty session", code, failure);
    EXPECT_NE(failure.message().find("frame 60"), std::string::npos) << failure;
    innocent.Rewind();
    ExpectSameFrames(row, fault + ", the innocent session", expected_,
                     HashesOf(innocent));
    EXPECT_EQ(innocent.recovery().restarts, 1u);
    EXPECT_EQ(guilty.recovery().restarts,
              1 + options_.limits.attempts_per_position);
  }

  HostOptions options_;
  std::unique_ptr<Host> host_;
  std::string clip_;
  std::vector<std::string> expected_;
  std::vector<int64_t> timestamps_;
};

TEST_F(WorkerScope, OneWorkerServesSessionsThatDecodeAtOnce) {
  std::vector<VideoDecoder> videos;
  for (int i = 0; i < 4; ++i) videos.push_back(Open());
  EXPECT_EQ(WorkersOf(videos).size(), 1u);
  EXPECT_EQ(SessionPids(), std::vector<int>(4, videos[0].worker_pid()));
  std::vector<std::vector<std::string>> hashes(videos.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < videos.size(); ++i) {
    threads.emplace_back([&, i] { hashes[i] = HashesOf(videos[i]); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& of_one : hashes) EXPECT_EQ(of_one, expected_);
  for (const VideoDecoder& video : videos) {
    EXPECT_EQ(video.recovery().restarts, 0u);
  }
}

TEST_F(WorkerScope, SessionsShareWhatTheVendorKeeps) {
  VideoDecoder first = Open("context_is", "1");
  VideoDecoder second = Open("context_is", "2");
  VideoDecoder third = Open("context_is", "3");
  EXPECT_EQ(HashesOf(third), expected_);
}

TEST_F(WorkerScope, ThreadsThatAskAtOnceGetOneWorker) {
  std::vector<std::optional<VideoDecoder>> videos(20);
  std::vector<std::thread> threads;
  for (auto& video : videos) {
    threads.emplace_back([&] { video.emplace(Open()); });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<int> pids;
  for (const auto& video : videos) pids.insert(video->worker_pid());
  EXPECT_EQ(pids.size(), 1u);
}

TEST_F(WorkerScope, ClosingASessionLeavesTheOthersAloneAndTheLastEndsIt) {
  std::vector<VideoDecoder> videos;
  for (int i = 0; i < 3; ++i) videos.push_back(Open());
  const ProcessWatch worker(videos[0].worker_pid());
  TakeFrames(videos[0], 20);
  TakeFrames(videos[1], 20);
  videos.erase(videos.begin());
  videos.erase(videos.begin() + 1);
  ASSERT_EQ(videos.size(), 1u);
  videos[0].Rewind();
  EXPECT_EQ(HashesOf(videos[0]), expected_);
  EXPECT_EQ(videos[0].recovery().restarts, 0u);
  EXPECT_EQ(SessionPids(), std::vector<int>{worker.pid()});
  videos.clear();
  EXPECT_TRUE(worker.AwaitEnd());
  VideoDecoder later = Open();
  EXPECT_EQ(HashesOf(later), expected_);
}

// More sessions than the worker has descriptors for, if closed sessions leaked
// them.
TEST_F(WorkerScope, TwoHundredSessionsComeAndGoInOneWorker) {
  VideoDecoder constant = Open();
  for (int i = 0; i < 200; ++i) {
    VideoDecoder video = Open();
    ASSERT_EQ(video.worker_pid(), constant.worker_pid()) << i;
    TakeFrames(video, 1);
  }
  EXPECT_EQ(HashesOf(constant), expected_);
  EXPECT_EQ(constant.recovery().restarts, 0u);
}

TEST_F(WorkerScope, FullWorkerIsFollowedByAnother) {
  std::vector<VideoDecoder> videos;
  for (size_t i = 0; i < kFull; ++i) videos.push_back(Open());
  EXPECT_EQ(WorkersOf(videos).size(), 1u);
  videos.push_back(Open());
  videos.push_back(Open());
  EXPECT_EQ(WorkersOf(videos).size(), 2u);
  EXPECT_EQ(videos[kFull].worker_pid(), videos[kFull + 1].worker_pid());
  for (size_t i = 0; i < videos.size(); i += 13) {
    EXPECT_EQ(HashesOf(videos[i]), expected_) << i;
    EXPECT_TRUE(videos[i].FrameCount()) << "while others are open";
  }
}

TEST_F(WorkerScope, KilledWorkerIsReplacedByOneForEachSession) {
  std::vector<VideoDecoder> videos;
  for (int i = 0; i < 3; ++i) videos.push_back(Open());
  TakeFrames(videos[1], 7);
  const ProcessWatch worker(videos[0].worker_pid());
  ASSERT_TRUE(worker.Signal(SIGKILL));
  ASSERT_TRUE(worker.AwaitEnd());
  for (size_t i = 0; i < videos.size(); ++i) {
    const size_t taken = i == 1 ? 7 : 0;
    EXPECT_EQ(
        HashesOf(videos[i]),
        std::vector<std::string>(expected_.begin() + taken, expected_.end()));
    EXPECT_EQ(videos[i].recovery().restarts, 1u);
  }
  const std::set<int> pids = WorkersOf(videos);
  EXPECT_EQ(pids.size(), videos.size());
  EXPECT_FALSE(pids.contains(worker.pid()));
  // New sessions share a worker again.
  VideoDecoder fourth = Open();
  VideoDecoder fifth = Open();
  EXPECT_EQ(fourth.worker_pid(), fifth.worker_pid());
  EXPECT_FALSE(pids.contains(fourth.worker_pid()));
}

TEST_F(WorkerScope, KillingAWorkerAgainAndAgainLosesNoFrame) {
  std::vector<VideoDecoder> videos;
  for (int i = 0; i < 2; ++i) videos.push_back(Open());
  std::vector<std::vector<std::string>> hashes(videos.size());
  for (size_t n = 0; n < expected_.size(); ++n) {
    for (size_t i = 0; i < videos.size(); ++i) {
      const auto frame = videos[i].Next().value();
      ASSERT_TRUE(frame);
      hashes[i].push_back(HashOf(*frame));
    }
    if (n % 15 == 9) {
      ProcessWatch(videos[n / 15 % 2].worker_pid()).Signal(SIGKILL);
    }
  }
  for (const auto& of_one : hashes) EXPECT_EQ(of_one, expected_);
}

TEST_F(WorkerScope, CrashIsPaidForByTheGuiltySessionAlone) {
  ExpectOnlyTheGuiltyFails(Fault(44), "crash_at", Code::kPoisonedInput);
}

TEST_F(WorkerScope, LostDeviceIsPaidForByTheGuiltySessionAlone) {
  // No device was granted, so none can be lost: the backend failed.
  ExpectOnlyTheGuiltyFails(Fault(45), "lose_at", Code::kBackendLost);
}

TEST_F(WorkerScope, HangIsPaidForByTheGuiltySessionAlone) {
  options_.deadlines.seek = kShort;
  options_.deadlines.frame = kShort;
  NewHost();
  VideoDecoder innocent = Open();
  VideoDecoder guilty = OpenPoisonous("hang_at");
  TakeFrames(innocent, 10);
  const Status failure = FailureOf(guilty);
  EXPECT_EQ(failure.code(), Code::kDeadlineExceeded) << failure;
  // The session missed its deadline, so the host knows at once that it is to
  // blame.
  EXPECT_EQ(guilty.recovery().restarts, options_.limits.attempts_per_position);
  innocent.Rewind();
  EXPECT_EQ(HashesOf(innocent), expected_);
  EXPECT_EQ(innocent.recovery().restarts, 1u);
}

// One file's threads leave none for another session of the same process.
TEST_F(WorkerScope, SessionsThatGetNoThreadEndTheWorkerOfOneThatHasAll) {
  VideoDecoder guilty = OpenPoisonous("hoard_at");
  TakeFrames(guilty, 70);
  for (int i = 0; i < 3; ++i) {
    auto innocent = host_->OpenVideo(clip_, {.device = kDevice});
    ASSERT_TRUE(innocent) << innocent.error();
    ExpectSameFrames(Escape(85), "sessions of a process with all threads",
                     expected_, HashesOf(*innocent));
  }
}

TEST_F(WorkerScope, SessionThatWasTheOnlyOneIsBlamedAtOnce) {
  VideoDecoder guilty = OpenPoisonous("crash_at");
  const Status failure = FailureOf(guilty);
  EXPECT_EQ(failure.code(), Code::kPoisonedInput) << failure;
  EXPECT_EQ(guilty.recovery().restarts, options_.limits.attempts_per_position);
}

TEST_F(WorkerScope, SessionsOutliveTheirZygoteAndNewOnesDoNotJoinThem) {
  VideoDecoder old = Open();
  TakeFrames(old, 5);
  const BackendReport report = host_->Backends().value();
  const auto backend =
      std::find_if(report.backends.begin(), report.backends.end(),
                   [](const BackendInfo& b) { return b.name == kDevice; });
  ASSERT_NE(backend, report.backends.end());
  const ProcessWatch zygote(backend->zygote_pid);
  ASSERT_TRUE(zygote.Signal(SIGKILL));
  ASSERT_TRUE(zygote.AwaitEnd());
  VideoDecoder fresh = Open();
  EXPECT_NE(fresh.worker_pid(), old.worker_pid());
  EXPECT_EQ(HashesOf(fresh), expected_);
  old.Rewind();
  EXPECT_EQ(HashesOf(old), expected_);
  EXPECT_EQ(old.recovery().restarts, 0u);
}

}  // namespace
}  // namespace bulkhead::tests
