// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <sstream>

#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/process_watch.h"
#include "tests/support/program.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;

// bound: the time in which all processes end, as the design promises.
constexpr milliseconds kAllGone{2'000};
constexpr milliseconds kStart{20'000};

std::string Join(const std::vector<pid_t>& pids) {
  std::string text;
  for (pid_t pid : pids) text += std::to_string(pid) + " ";
  return text;
}

class ApplicationDeath : public testing::Test {
 protected:
  void SetUp() override { clip_ = ClipOrSkip(Clip::kH264); }

  void TearDown() override {
    for (const auto& [role, processes] : running_) {
      for (const ProcessWatch& process : processes) process.Signal(SIGKILL);
    }
  }

  void Start(const std::string& mode) {
    application_ =
        RunningProgram::Start({PathFromEnvironment("BULKHEAD_TEST_APPLICATION"),
                               LibexecDirectory(), clip_, mode});
    ASSERT_NE(application_, nullptr);
    const auto line = application_->ReadLine(kStart);
    ASSERT_TRUE(line) << "it does not decode";
    std::istringstream words(*line);
    std::string role;
    for (pid_t pid; words >> role >> pid;) {
      running_[role].emplace_back(pid);
      ASSERT_TRUE(running_[role].back().valid()) << role << " " << pid;
    }
    ASSERT_EQ(running_["bulkheadd"].size(), 1u) << *line;
    ASSERT_EQ(running_["reaper"].size(), 2u) << *line;
    ASSERT_EQ(running_["zygote"].size(), 2u) << *line;
    ASSERT_EQ(running_["worker"].size(), 4u) << *line;
  }

  void KillApplication() { application_->Kill(SIGKILL); }
  const ProcessWatch& Bulkheadd() { return running_["bulkheadd"].front(); }
  const ProcessWatch& Child() { return running_["child"].front(); }

  void ExpectGone(const std::vector<std::string>& roles) {
    const auto end = std::chrono::steady_clock::now() + kAllGone;
    for (const std::string& role : roles) {
      const auto left = std::chrono::duration_cast<milliseconds>(
          end - std::chrono::steady_clock::now());
      const std::string lives = Join(AwaitEndOfAll(running_[role], left));
      for (const TableRow row : {Escape(57), Fault(36)}) {
        ExpectOutcome(row, role + " after 2 s", "gone",
                      lives.empty() ? "gone" : "lives on: " + lives);
      }
    }
  }

 private:
  std::string clip_;
  std::unique_ptr<RunningProgram> application_;
  std::map<std::string, std::vector<ProcessWatch>> running_;
};

TEST_F(ApplicationDeath, TakesEverythingWithIt) {
  ASSERT_NO_FATAL_FAILURE(Start("alone"));
  KillApplication();
  ExpectGone({"bulkheadd", "reaper", "zygote", "worker"});
}

TEST_F(ApplicationDeath, TakesEverythingWithItThoughAChildHoldsItsDescriptors) {
  ASSERT_NO_FATAL_FAILURE(Start("forked"));
  KillApplication();
  ExpectGone({"bulkheadd", "reaper", "zygote", "worker"});
  EXPECT_FALSE(Child().AwaitEnd(milliseconds(0))) << "it was not to be killed";
}

TEST_F(ApplicationDeath, TakesEverythingWithItThoughBulkheaddIsStopped) {
  ASSERT_NO_FATAL_FAILURE(Start("alone"));
  ASSERT_TRUE(Bulkheadd().Signal(SIGSTOP));
  KillApplication();
  ExpectGone({"bulkheadd", "reaper", "zygote", "worker"});
}

TEST_F(ApplicationDeath, BulkheaddsDeathTakesTheSandboxesWithIt) {
  ASSERT_NO_FATAL_FAILURE(Start("alone"));
  ASSERT_TRUE(Bulkheadd().Signal(SIGKILL));
  ExpectGone({"bulkheadd", "reaper", "zygote", "worker"});
}

}  // namespace
}  // namespace bulkhead::tests
