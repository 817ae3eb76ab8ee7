// SPDX-License-Identifier: Apache-2.0
//
// Tests who is blamed for the ends of workers where one end alone does not
// show it: a backend that dies of every input, and a device that many sessions
// lose at once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bulkhead/host.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/frame_hash.h"
#include "tests/support/rows.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr milliseconds kSoon{20'000};
constexpr size_t kFrames = 120;
// The number of inputs without a frame that makes a backend suspect.
constexpr int kTooMany = 3;

class Blame : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    directory_ = fs::path(::getenv("TEST_TMPDIR")) / "inputs";
    fs::create_directory(directory_);
    host_ = Host::Create(installation_.options()).value();
  }

  // Returns another file each time, with the same pictures.
  std::string NewInput() {
    const fs::path copy = directory_ / (std::to_string(inputs_++) + ".mp4");
    fs::copy_file(clip_, copy, fs::copy_options::overwrite_existing);
    return copy;
  }
  Status Decode(const std::string& faults = "") {
    auto video = host_->OpenVideo(NewInput(), installation_.Stream(faults));
    if (!video) return video.error();
    for (;;) {
      const auto frame = video->Next();
      if (!frame) return frame.error();
      if (!*frame) return Status();
    }
  }

  BackendInfo Backend() {
    const BackendReport report = host_->Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.name == "chaos") return backend;
    }
    return {};
  }
  void DecodeUntilQuarantined() {
    const auto end = Clock::now() + kSoon;
    while (Backend().state != "quarantined" && Clock::now() < end) {
      EXPECT_FALSE(Decode().ok());
    }
  }

  void GrantADevice() {
    installation_.GrantADevice();
    host_ = Host::Create(installation_.options()).value();
  }

  ChaosInstallation installation_;
  std::unique_ptr<Host> host_;
  std::string clip_;
  fs::path directory_;
  int inputs_ = 0;
};

TEST_F(Blame, ABackendThatDiesOfEveryFileIsQuarantined) {
  for (const char* faults : {"at=open do=segfault", "at=packet:0 do=abort",
                             "at=picture do=exit:9"}) {
    SCOPED_TRACE(faults);
    installation_.SetFaults(faults);
    host_ = Host::Create(installation_.options()).value();
    inputs_ = 0;
    EXPECT_EQ(Decode().code(), Code::kPoisonedInput);
    EXPECT_EQ(Decode().code(), Code::kPoisonedInput);
    EXPECT_EQ(Backend().state, "ready");
    DecodeUntilQuarantined();
    ExpectOutcome(Fault(43), std::string("of all files, ") + faults,
                  "quarantined", Backend().state);
    // Three files make the backend suspect, others die during the trial, and
    // the fifth failure takes two more at most.
    EXPECT_LE(inputs_, 10 * kTooMany);
    EXPECT_THAT(Backend().reason, HasSubstr("its workers die of any media"));
    EXPECT_EQ(Decode().code(), Code::kBackendUnavailable);

    // The repaired backend serves the files that are not poisoned.
    installation_.SetFaults("");
    ASSERT_TRUE(host_->Restart("chaos").ok());
    const int used = inputs_;
    for (inputs_ = 0; inputs_ < used;) EXPECT_TRUE(Decode().ok());
  }
}

TEST_F(Blame, WhatIsTheBackendsIsNotSaidOfTheInput) {
  installation_.SetFaults("at=open do=segfault");
  host_ = Host::Create(installation_.options()).value();
  Status status;
  const auto end = Clock::now() + kSoon;
  do {
    status = Decode();
  } while (status.code() == Code::kPoisonedInput && Clock::now() < end);
  // The session gives up after three deaths, or the backend after the fifth.
  EXPECT_TRUE(status.code() == Code::kBackendLost ||
              status.code() == Code::kBackendUnavailable)
      << status;
}

TEST_F(Blame, FilesOfWhichAWorkingBackendDiesStayToBlame) {
  for (int i = 0; i < 4 * kTooMany; ++i) {
    const Status status = Decode("at=open do=segfault");
    EXPECT_EQ(status.code(), Code::kPoisonedInput) << i << ": " << status;
  }
  EXPECT_EQ(Backend().state, "ready");
  EXPECT_TRUE(Decode().ok());
}

// A frame of a good file between the deaths clears the backend.
TEST_F(Blame, AFrameInBetweenAcquits) {
  for (int i = 0; i < 2 * kTooMany; ++i) {
    EXPECT_EQ(Decode("at=picture do=segfault").code(), Code::kPoisonedInput);
    EXPECT_TRUE(Decode().ok());
  }
  EXPECT_EQ(Backend().state, "ready");
}

// Row 45: all sessions use the device when it is lost.
TEST_F(Blame, ADeviceThatManySessionsLoseAtOnceIsLostOnce) {
  constexpr int kSessions = 12;
  GrantADevice();
  const auto healthy = host_->OpenVideo(clip_, installation_.Stream());
  ASSERT_TRUE(healthy) << healthy.error();
  std::vector<std::string> expected;
  {
    VideoDecoder video =
        host_->OpenVideo(clip_, installation_.Stream()).value();
    while (const auto frame = video.Next().value()) {
      expected.push_back(HashOf(*frame));
    }
    ASSERT_EQ(expected.size(), kFrames);
  }
  std::vector<VideoDecoder> videos;
  for (int i = 0; i < kSessions; ++i) {
    videos.push_back(
        host_
            ->OpenVideo(clip_,
                        installation_.Stream("at=packet:30 do=error:6 lives=1"))
            .value());
  }
  std::vector<std::vector<std::string>> hashes(kSessions);
  std::vector<std::thread> threads;
  for (int i = 0; i < kSessions; ++i) {
    threads.emplace_back([&, i] {
      for (;;) {
        const auto frame = videos[i].Next();
        if (!frame) ADD_FAILURE() << frame.error();
        if (!frame || !*frame) return;
        hashes[i].push_back(HashOf(**frame));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kSessions; ++i) {
    ExpectSameFrames(Fault(45), "lost by session " + std::to_string(i),
                     expected, hashes[i]);
    EXPECT_EQ(videos[i].recovery().restarts, 1u) << i;
  }
  EXPECT_EQ(Backend().state, "ready");
  // The loss counts as one incident. Twelve incidents would block the device
  // for half a minute.
  const auto began = Clock::now();
  EXPECT_TRUE(Decode().ok());
  EXPECT_LT(Clock::now() - began, milliseconds(25'000));
}

// A library that media makes call exit() may choose any status.
TEST_F(Blame, AnExitStatusIsNoLostDevice) {
  for (const bool granted : {false, true}) {
    SCOPED_TRACE(granted);
    if (granted) GrantADevice();
    for (int i = 0; i < kTooMany - 1; ++i) {
      EXPECT_EQ(Decode("at=packet:0 do=exit:3").code(), Code::kPoisonedInput);
    }
    EXPECT_TRUE(Decode().ok());
  }
}

// Neither the input nor a device is to blame for what a backend says of itself,
// and the backend is not punished: a file may make it say so.
TEST_F(Blame, WhatABackendWithoutDevicesSaysOfItselfCountsAgainstNothing) {
  for (const char* faults :
       {"at=packet:0 do=error:6", "at=packet:0 do=error:7"}) {
    SCOPED_TRACE(faults);
    for (int i = 0; i < 2 * kTooMany; ++i) {
      const Status status = Decode(faults);
      EXPECT_EQ(status.code(), Code::kBackendLost) << status;
      EXPECT_THAT(status.message(), HasSubstr("try another backend"));
      EXPECT_THAT(status.message(), Not(HasSubstr("skip this file")));
    }
    EXPECT_TRUE(Decode().ok());
  }
  EXPECT_EQ(Backend().state, "ready");
}

// The sessions wait for the device instead of asking again at once. Our own
// clip finds it lost, too.
TEST_F(Blame, ADeviceThatIsLostAgainAndAgainIsWaitedFor) {
  installation_.SetFaults("at=packet:0 do=error:6");
  GrantADevice();
  Status status;
  const auto end = Clock::now() + kSoon;
  do {
    status = Decode();
  } while (status.code() == Code::kBackendLost && Clock::now() < end);
  ExpectOutcome(Fault(45), "lost again and again", Code::kBackendUnavailable,
                status);
  EXPECT_THAT(status.message(), HasSubstr("was lost again and again"));
  EXPECT_EQ(Backend().state, "ready");
  installation_.SetFaults("");
  ASSERT_TRUE(host_->Restart("chaos").ok());
  EXPECT_TRUE(Decode().ok());
}

}  // namespace
}  // namespace bulkhead::tests
