// SPDX-License-Identifier: Apache-2.0
//
// Tests that no sound backend and no good file is blamed for what fails because
// the tasks of a user are used up, by a file or by another program. The limit
// (ulimit -u) is lower than what Bulkhead would let a backend have.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "ipc/testing/forked_child.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/await.h"
#include "tests/support/frame_hash.h"
#include "tests/support/high_water.h"
#include "tests/support/rows.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kSoon{60'000};
// What this user's programs may start besides what they have.
constexpr uint64_t kTasks = 1200;
// Of these a backend may have half, and its workers three quarters of that.
constexpr int kNearlyAll = 350;
// More than the inputs without a frame that make a backend suspect.
constexpr int kFiles = 8;

void* Rest(void*) {
  for (;;) pause();
}

uint64_t TasksOfThisUser() {
  uint64_t tasks = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream status(entry.path() / "status");
    uint64_t user = 0;
    uint64_t threads = 0;
    for (std::string word; status >> word;) {
      if (word == "Uid:") status >> user;
      if (word == "Threads:") status >> threads;
    }
    if (user == getuid()) tasks += threads;
  }
  return tasks;
}

// Another program of this user, which has all tasks that it may have but for
// `left`.
class OtherProgram {
 public:
  explicit OtherProgram(int left)
      : child_(ipc::ForkedChild::Prepared([left] {
          pthread_attr_t small;
          pthread_attr_init(&small);
          pthread_attr_setstacksize(&small, 65536);
          std::vector<pthread_t> threads(1);
          while (pthread_create(&threads.back(), &small, Rest, nullptr) == 0) {
            threads.emplace_back();
          }
          threads.pop_back();
          for (int i = 0; i < left && !threads.empty(); ++i) {
            pthread_cancel(threads.back());
            pthread_join(threads.back(), nullptr);
            threads.pop_back();
          }
        })) {}

 private:
  const ipc::ForkedChild child_;
};

class TaskLimits : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() == 0) {
      GTEST_SKIP() << "the number of root's processes is not limited";
    }
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    directory_ = fs::path(::getenv("TEST_TMPDIR")) / "inputs";
    fs::create_directory(directory_);
    rlimit limit = {};
    ASSERT_EQ(getrlimit(RLIMIT_NPROC, &limit), 0);
    limit.rlim_max =
        std::min<rlim_t>(limit.rlim_max, TasksOfThisUser() + kTasks);
    limit.rlim_cur = limit.rlim_max;
    ASSERT_EQ(setrlimit(RLIMIT_NPROC, &limit), 0);
  }
  void Start() {
    HostOptions options = installation_.options();
    options.limits.restarts_per_position = 32;
    host_ = Host::Create(options).value();
    expected_ = Frames(New()).value();
    ASSERT_FALSE(expected_.empty());
  }

  // Returns the path of a file that was not decoded before.
  std::string New() {
    const fs::path copy = directory_ / (std::to_string(inputs_++) + ".mp4");
    fs::copy_file(clip_, copy, fs::copy_options::overwrite_existing);
    return copy;
  }
  Result<std::vector<std::string>> Frames(const std::string& file,
                                          const std::string& faults = "") {
    VideoOptions options = ChaosInstallation::Stream(faults);
    options.threads = 2;
    auto video = host_->OpenVideo(file, options);
    if (!video) return video.error();
    std::vector<std::string> hashes;
    for (;;) {
      const auto frame = video->Next();
      if (!frame) return frame.error();
      if (!*frame) return hashes;
      hashes.push_back(HashOf(**frame));
    }
  }
  BackendInfo Backend() {
    const BackendReport report = host_->Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.name == "chaos") return backend;
    }
    return {};
  }
  // Decodes good files in turns while others have nearly all tasks, and again
  // when they have not.
  void DecodeBesideAnotherProgram() {
    Start();
    std::vector<std::string> files;
    for (const int left : {4, 8, 12, 16}) {
      const OtherProgram other(left);
      for (int i = 0; i < kFiles; ++i) {
        files.push_back(New());
        const auto frames = Frames(files.back());
        if (frames) continue;
        EXPECT_NE(frames.error().code(), Code::kPoisonedInput)
            << left << ": " << frames.error();
      }
      ExpectOutcome(Escape(86), "a backend that lacks tasks of its user",
                    "not quarantined",
                    Backend().state == "quarantined" ? Backend().reason
                                                     : "not quarantined");
    }
    ASSERT_TRUE(host_->Restart("chaos").ok());
    for (const std::string& file : files) {
      const auto frames = Frames(file);
      ASSERT_TRUE(frames) << frames.error();
      ExpectSameFrames(Escape(85), "files that lacked tasks of their user",
                       expected_, *frames);
    }
  }

  ChaosInstallation installation_;
  std::unique_ptr<Host> host_;
  std::string clip_;
  std::vector<std::string> expected_;
  fs::path directory_;
  int inputs_ = 0;
};

TEST_F(TaskLimits, GoodFilesAreDecodedWhileAnotherOneHasAllTasksThatItMayHave) {
  installation_.SetFaults("at=open do=need_or_abort");
  Start();
  const std::string hostile = New();
  auto hoard = std::async(std::launch::async, [&] {
    const auto video = host_->OpenVideo(
        hostile, ChaosInstallation::Stream("at=open do=hoard"));
    return video ? Status() : video.error();
  });
  ASSERT_TRUE(Await(
      [this] {
        HighWater most;
        for (const int pid : Backend().session_pids) most.Look(pid);
        return most.threads >= kNearlyAll;
      },
      kSoon));
  const auto end = std::chrono::steady_clock::now() + kSoon;
  do {
    const auto frames = Frames(New());
    ASSERT_TRUE(frames) << frames.error();
    ExpectSameFrames(Escape(85), "good files beside it, with ulimit -u",
                     expected_, *frames);
  } while (hoard.wait_for(milliseconds(0)) != std::future_status::ready &&
           std::chrono::steady_clock::now() < end);
  ASSERT_EQ(hoard.wait_for(milliseconds(0)), std::future_status::ready);
  ExpectOutcome(Escape(85), "the file that takes them, with ulimit -u",
                Code::kPoisonedInput, hoard.get());
}

TEST_F(TaskLimits, ABackendThatAbortsIsNotToBlame) {
  installation_.SetFaults("at=open do=need_or_abort");
  DecodeBesideAnotherProgram();
}

TEST_F(TaskLimits, ABackendThatFailsIsNotToBlame) {
  installation_.SetFaults("at=open do=need:7");
  DecodeBesideAnotherProgram();
}

}  // namespace
}  // namespace bulkhead::tests
