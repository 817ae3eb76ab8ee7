// SPDX-License-Identifier: Apache-2.0
//
// No deadline and no wait uses the wall clock or the clock that counts while a
// machine is suspended. This program runs itself and its bulkheadd with both
// clocks replaced by a preloaded library (leaping_clock.cc). The kernel's
// clocks do not change. The worker keeps the real clocks, since nothing can be
// preloaded into a sandboxed process.

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/deadlines.h"
#include "tests/support/frame_hash.h"
#include "tests/support/own_world.h"
#include "tests/support/process_watch.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kPreload = "LD_PRELOAD";

class LeapingClock : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    HostOptions options = installation_.options();
    options.libexec_dir = LeapingLibexec();
    options.deadlines.seek = kShort;
    options.deadlines.frame = kShort;
    host_ = Host::Create(options).value();
  }
  // Makes a libexec directory whose bulkheadd preloads the clock. bulkheadd
  // does not inherit LD_PRELOAD from this process.
  static std::string LeapingLibexec() {
    const fs::path libexec = fs::path(::getenv("TEST_TMPDIR")) / "libexec";
    if (fs::exists(libexec)) return libexec;
    fs::copy(LibexecDirectory(), libexec, fs::copy_options::recursive);
    const fs::path program = libexec / "bulkheadd";
    const fs::path real = libexec / "real-bulkheadd";
    fs::rename(program, real);
    std::ofstream(program) << "#!/bin/sh\n"
                           << kPreload << "=" << ::getenv(kPreload) << " exec "
                           << real.string() << " \"$@\"\n";
    fs::permissions(program, fs::perms(0755));
    return libexec;
  }

  const ChaosInstallation installation_;
  std::unique_ptr<Host> host_;
  std::string clip_;
};

TEST_F(LeapingClock, IsThatOfThisProcessAndOfBulkheadd) {
  const time_t first = time(nullptr);
  EXPECT_GT(std::abs(time(nullptr) - first), 365 * 24 * 3600);
  std::ifstream maps("/proc/" + std::to_string(host_->supervisor_pid()) +
                     "/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  EXPECT_NE(text.find("leaping_clock"), std::string::npos);
}

TEST_F(LeapingClock, LosesNoFrameOfSessionsThatDieAndReplay) {
  VideoDecoder video = host_->OpenVideo(clip_, installation_.Stream()).value();
  const std::vector<std::string> expected = HashesOfRest(video);
  ASSERT_EQ(expected.size(), 120u);
  EXPECT_EQ(video.recovery().restarts, 0u);
  VideoDecoder dying =
      host_
          ->OpenVideo(
              clip_, installation_.Stream("at=packet:20 do=segfault lives=1-2\n"
                                          "at=packet:50 do=error:6 lives=3"))
          .value();
  ExpectSameFrames(Fault(46), "sessions that die, clocks leap", expected,
                   HashesOfRest(dying));
  const ProcessWatch supervisor(host_->supervisor_pid());
  ASSERT_TRUE(supervisor.Signal(SIGKILL));
  ASSERT_TRUE(supervisor.AwaitEnd());
  dying.Rewind();
  EXPECT_EQ(HashesOfRest(dying), expected);
}

TEST_F(LeapingClock, KillsAStoppedWorkerAtItsDeadlineAndASlowOneNever) {
  VideoDecoder video =
      host_->OpenVideo(clip_, installation_.Stream("at=packet do=slow:20"))
          .value();
  const std::vector<std::string> expected = HashesOfRest(video);
  ExpectOutcome(Fault(19), "restarts of a slow worker, clocks leap", "0",
                std::to_string(video.recovery().restarts));
  ASSERT_TRUE(ProcessWatch(video.worker_pid()).Signal(SIGSTOP));
  video.Rewind();
  const auto began = Clock::now();
  ASSERT_TRUE(video.Next().value());
  const auto took = Clock::now() - began;
  EXPECT_EQ(video.recovery().restarts, 1u);
  EXPECT_GE(took, kShort);
  EXPECT_LT(took, 2 * kShort + kPatience);
}

}  // namespace
}  // namespace bulkhead::tests

int main(int argc, char** argv) {
  bulkhead::tests::EnterOwnWorld();
  testing::InitGoogleTest(&argc, argv);
  if (!::getenv(bulkhead::tests::kPreload) && !GTEST_FLAG_GET(list_tests)) {
    const std::string clock = std::filesystem::absolute(
        bulkhead::tests::PathFromEnvironment("LEAPING_CLOCK"));
    ::setenv(bulkhead::tests::kPreload, clock.c_str(), 1);
    ::execv("/proc/self/exe", argv);
    return 1;
  }
  return RUN_ALL_TESTS();
}
