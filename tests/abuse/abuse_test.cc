// SPDX-License-Identifier: Apache-2.0
//
// One session takes all that its worker can get. Until it is killed at its
// deadline, others decode exactly what they always do, and new ones are opened:
// of another backend and of its own.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/support/frame_hash.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;

// Of an abuse; the others have to be served meanwhile.
constexpr milliseconds kOpenDeadline{4'000};
// bulkheadd keeps the end of a log, however much was written.
constexpr long kMostGrowthKib = 8 * 1024;

// A line of its status, for example "VmRSS:" in KiB.
long StatusOf(int pid, const std::string& line) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;) {
    if (word != line) continue;
    long value = 0;
    status >> value;
    return value;
  }
  return 0;
}

long ResidentKib(int pid) { return StatusOf(pid, "VmRSS:"); }

// Of the session that has most.
long MostThreads(Host& host) {
  long most = 0;
  const auto report = host.Backends();
  if (!report) return 0;
  for (const BackendInfo& backend : report->backends) {
    for (const int pid : backend.session_pids) {
      most = std::max(most, StatusOf(pid, "Threads:"));
    }
  }
  return most;
}

class Abuse : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto clip = Generate(Clip::kOddSize);
    if (!clip && clip.error().code() == Code::kNotFound) {
      GTEST_SKIP() << clip.error();
    }
    ASSERT_TRUE(clip) << clip.error();
    media_ = *clip;
    const auto reference = DecodeWithFfmpeg(media_);
    ASSERT_TRUE(reference) << reference.error();
    for (const auto& frame : *reference) hashes_.push_back(frame.hash);
    Deadlines deadlines;
    deadlines.open = kOpenDeadline;
    host_ = StartHost(deadlines);
    ASSERT_NE(host_, nullptr);
  }

  static std::unique_ptr<Host> StartHost(const Deadlines& deadlines) {
    auto host = Host::Create(
        {.plugin_path = std::vector<std::string>{DistributionDirectory()},
         .autoload = true,
         .sandbox_floor = SandboxTier::kReduced,
         .libexec_dir = LibexecDirectory(),
         .limits = {.attempts_per_position = 1},
         .deadlines = deadlines});
    EXPECT_TRUE(host) << host.error();
    return host ? *std::move(host) : nullptr;
  }

  void ExpectExact(VideoDecoder& video, const std::string& who) {
    video.Rewind();
    for (const std::string& hash : hashes_) {
      const auto frame = video.Next();
      ASSERT_TRUE(frame) << who << ": " << frame.error();
      ASSERT_TRUE(*frame) << who;
      ASSERT_EQ(HashOf(**frame), hash) << who;
    }
    EXPECT_EQ(video.recovery().restarts, 0u) << who;
  }

  void ExpectNewSession(const std::string& device) {
    auto fresh = host_->OpenVideo(media_, {.device = device});
    ASSERT_TRUE(fresh) << device << ": " << fresh.error();
    ExpectExact(*fresh, "a new session of " + device);
  }

  // Those of the abusive backend.
  void StopSessionsBeside(int honest) {
    const auto report = host_->Backends();
    ASSERT_TRUE(report) << report.error();
    for (const BackendInfo& backend : report->backends) {
      if (backend.name != "abuse") continue;
      for (const int pid : backend.session_pids) {
        if (pid != honest) kill(pid, SIGSTOP);
      }
    }
  }

  std::string media_;
  std::vector<std::string> hashes_;
  std::unique_ptr<Host> host_;
};

TEST_P(Abuse, HurtsNobodyElse) {
  const std::string abuse = GetParam();
  auto of_other_backend = host_->OpenVideo(media_, {.device = "cpu"});
  ASSERT_TRUE(of_other_backend) << of_other_backend.error();
  auto of_same_backend = host_->OpenVideo(media_, {.device = "abuse"});
  ASSERT_TRUE(of_same_backend) << of_same_backend.error();
  const long before = ResidentKib(host_->supervisor_pid());
  const auto began = std::chrono::steady_clock::now();
  auto abuser = std::async(std::launch::async, [&] {
    const auto opened = host_->OpenVideo(
        media_, {.device = "abuse", .backend_options = {{"abuse", abuse}}});
    return opened ? Status() : opened.error();
  });

  ASSERT_GT(before, 0);
  int rounds = 0;
  long most = before;
  long threads = 0;
  while (abuser.wait_for(milliseconds(0)) != std::future_status::ready) {
    // What it cannot do, an operator can.
    if (abuse == "stop_itself") {
      StopSessionsBeside(of_same_backend->worker_pid());
    }
    ExpectExact(*of_other_backend, "a session of another backend");
    ExpectExact(*of_same_backend, "a session of the same backend");
    ExpectNewSession("cpu");
    ExpectNewSession("abuse");
    if (HasFatalFailure()) break;
    most = std::max(most, ResidentKib(host_->supervisor_pid()));
    threads = std::max(threads, MostThreads(*host_));
    ++rounds;
  }
  const auto took = std::chrono::duration_cast<milliseconds>(
      std::chrono::steady_clock::now() - began);
  const Status status = abuser.get();
  ASSERT_FALSE(status.ok());
  std::printf(
      "%-17s %5d ms, %3d rounds beside it, %ld threads, bulkheadd +%ld KiB: "
      "%s\n",
      abuse.c_str(), static_cast<int>(took.count()), rounds, threads,
      most - before, status.message().substr(0, 100).c_str());
  const ExitReport* exit = status.exit_report();
  ASSERT_NE(exit, nullptr) << status;
  EXPECT_EQ(exit->kind, abuse == "sparse_file"
                            ? ExitReport::Kind::kSandboxViolation
                            : ExitReport::Kind::kDeadline)
      << status;
  EXPECT_LT(most - before, kMostGrowthKib);
  EXPECT_EQ(status.message().find('\x1b'), std::string::npos);
  EXPECT_LT(status.message().size(), 4096u);
  // Once more without it.
  ExpectNewSession("abuse");
  ExpectExact(*of_other_backend, "afterwards");
  ExpectExact(*of_same_backend, "afterwards");
}

INSTANTIATE_TEST_SUITE_P(Kinds, Abuse,
                         testing::Values("fork_bomb", "memory_bomb", "cpu_spin",
                                         "descriptor_flood", "log_flood",
                                         "sparse_file", "stop_itself"),
                         [](const auto& kind) {
                           return std::string(kind.param);
                         });

}  // namespace
}  // namespace bulkhead::tests
