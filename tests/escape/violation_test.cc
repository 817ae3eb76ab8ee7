// SPDX-License-Identifier: Apache-2.0
//
// Tests the report about a backend that its sandbox kills: the system call, its
// architecture and the stage of the filter.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "bulkhead/host.h"
#include "core/supervisor/sandbox/testing/int80.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

struct Row {
  const char* name;  // of tests/escape/violations.h
  int number;
  const char* syscall;
  const char* architecture;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

constexpr Row kRows[] = {
    {"connect", SYS_connect, "connect", "x86_64"},
    {"execve", SYS_execve, "execve", "x86_64"},
    {"execveat", SYS_execveat, "execveat", "x86_64"},
    {"ptrace", SYS_ptrace, "ptrace", "x86_64"},
    {"i386", 64, "getppid", "i386"},
    {"x32", 0x40000000 | SYS_getppid, "getppid", "x32"},
    {"number_100000", 100'000, "", "x86_64"},
    {"number_minus_one", -1, "", "x86_64"},
    {"second_thread", SYS_ptrace, "ptrace", "x86_64"},
    {"signals_blocked", SYS_ptrace, "ptrace", "x86_64"},
    {"sigsys_handler", SYS_ptrace, "ptrace", "x86_64"},
    {"sigabrt_handler", SYS_ptrace, "ptrace", "x86_64"},
};

std::string InWords(const Row& row, int stage) {
  const std::string number = std::to_string(row.number);
  const std::string call = *row.syscall == 0
                               ? number + " (" + row.architecture + ")"
                               : std::string(row.syscall) + " (" + number +
                                     ", " + row.architecture + ")";
  return "it was killed by its sandbox (stage " + std::to_string(stage) +
         ") for the system call " + call;
}

class ViolationFixture : public testing::Test {
 protected:
  void SetUp() override {
    media_ = ClipOrSkip(Clip::kOddSize);
    if (media_.empty()) return;
    char directory[] = "/tmp/violation-XXXXXX";
    ASSERT_NE(mkdtemp(directory), nullptr);
    directory_ = directory;
    ASSERT_EQ(chmod(directory, 0755), 0);
  }

  void TearDown() override {
    if (!directory_.empty()) fs::remove_all(directory_);
  }

  // Opens a stream, which fails, and returns the failure. Returns nullopt if
  // the test was skipped.
  std::optional<Status> Violate(const std::string& in_zygote,
                                const std::string& in_worker) {
    Install(in_zygote);
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    options.plugin_path = {directory_ + "/plugins"};
    options.autoload = true;
    options.limits.attempts_per_position = 1;
    const auto host = Host::Create(options).value();
    const auto sandbox = host->Sandbox().value();
    if (sandbox.tier != SandboxTier::kFull) return std::nullopt;
    for (const std::string& reason : sandbox.reasons) {
      if (reason.find("seccomp's notifications") != reason.npos) {
        return std::nullopt;
      }
    }
    VideoOptions video;
    video.device = "escape";
    video.backend_options = {{"attempt", in_worker}};
    const auto opened = host->OpenVideo(media_, video);
    EXPECT_FALSE(opened);
    return opened ? Status() : opened.error();
  }

 private:
  void Install(const std::string& in_zygote) {
    const fs::path plugins = directory_ + "/plugins";
    CopyForAll(DistributionDirectory(), plugins);
    std::ofstream(plugins / "bulkhead_escape" / "targets.txt")
        << "zygote_attempt " << in_zygote << "\n";
    std::ofstream(plugins / "bulkhead_escape-0.1.0.dist-info" / "RECORD",
                  std::ios::app)
        << "bulkhead_escape/targets.txt,,\n";
  }

  std::string media_;
  std::string directory_;
};

class ViolationTest : public ViolationFixture,
                      public testing::WithParamInterface<Row> {
 protected:
  void SetUp() override {
    if (std::string_view(GetParam().architecture) == "i386" &&
        !sandbox::MachineTakesInt80()) {
      GTEST_SKIP() << "this machine has no int $0x80";
    }
    ViolationFixture::SetUp();
  }
};

constexpr char kUnnamed[] = "this machine does not name system calls";

TEST_P(ViolationTest, OfASessionIsInItsExitReport) {
  const Row& row = GetParam();
  const auto status = Violate("none", std::string("violate_") + row.name);
  if (!status) GTEST_SKIP() << kUnnamed;
  const ExitReport* report = status->exit_report();
  ASSERT_NE(report, nullptr) << *status;
  EXPECT_EQ(report->kind, ExitReport::Kind::kSandboxViolation);
  EXPECT_TRUE(report->syscall_trusted);
  EXPECT_EQ(report->syscall_number, row.number);
  EXPECT_EQ(report->syscall, row.syscall);
  EXPECT_EQ(report->architecture, row.architecture);
  EXPECT_EQ(report->stage, 2);
  EXPECT_NE(status->message().find(InWords(row, 2)), std::string::npos)
      << *status;
}

TEST_P(ViolationTest, OfAZygoteIsWhyItsBackendCannotBeLoaded) {
  const Row& row = GetParam();
  const auto status = Violate(std::string("violate_") + row.name, "control");
  if (!status) GTEST_SKIP() << kUnnamed;
  EXPECT_EQ(status->code(), Code::kBackendUnavailable) << *status;
  EXPECT_NE(status->message().find(InWords(row, 1) + " while loading"),
            std::string::npos)
      << *status;
}

INSTANTIATE_TEST_SUITE_P(Calls, ViolationTest, testing::ValuesIn(kRows),
                         [](const auto& row) {
                           return std::string(row.param.name);
                         });

TEST_F(ViolationFixture, ThreadThatAVendorStartsWhileLoadingIsNoObstacle) {
  const auto status = Violate("idle_thread", "control");
  if (!status) GTEST_SKIP() << kUnnamed;
  EXPECT_NE(status->message().find("zygote: ESCAPED; worker: ESCAPED"),
            std::string::npos)
      << *status;
}

TEST_F(ViolationFixture, SpeculationIsOffWhereThereIsASwitch) {
  const auto status = Violate("speculation", "speculation");
  if (!status) GTEST_SKIP() << kUnnamed;
  EXPECT_NE(status->message().find("zygote: refused"), std::string::npos)
      << *status;
  EXPECT_NE(status->message().find("worker: refused"), std::string::npos)
      << *status;
  for (const unsigned long which :
       {PR_SPEC_STORE_BYPASS, PR_SPEC_INDIRECT_BRANCH}) {
    const int state = prctl(PR_GET_SPECULATION_CTRL, which, 0, 0, 0);
    if ((state & PR_SPEC_PRCTL) == 0) {
      std::printf("speculation %lu: state %d, no process can switch it here\n",
                  which, state);
    }
  }
}

// Stage 1 allows this system call, and only the filter of stage 1 has a
// listener. So bulkheadd does not learn which call stage 2 forbade.
TEST_F(ViolationFixture, OfStage2AloneKillsAndClaimsNothing) {
  const auto status = Violate("none", "violate_call_of_stage1");
  if (!status) GTEST_SKIP() << kUnnamed;
  const ExitReport* report = status->exit_report();
  ASSERT_NE(report, nullptr) << *status;
  EXPECT_EQ(report->kind, ExitReport::Kind::kSandboxViolation);
  EXPECT_FALSE(report->syscall_trusted);
  EXPECT_NE(status->message().find("it was killed by its sandbox"),
            std::string::npos)
      << *status;
}

}  // namespace
}  // namespace bulkhead::tests
