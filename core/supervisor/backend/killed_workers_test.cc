// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/killed_workers.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bulkhead::supervisor {
namespace {

// No process is beyond a SIGKILL at a test's wish, so that these are sent none.
class KilledWorkersTest : public testing::Test {
 protected:
  pid_t Add(std::chrono::milliseconds when) {
    const pid_t pid = fork();
    if (pid == 0) {
      for (;;) pause();
    }
    pids_.push_back(pid);
    killed_.Add(
        "acme",
        ipc::UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))),
        begin_ + when);
    return pid;
  }
  std::vector<KilledWorkers::Worker> At(std::chrono::milliseconds when) {
    return killed_.WrittenOff(begin_ + when);
  }
  static void End(pid_t pid) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  void TearDown() override {
    for (const pid_t pid : pids_) End(pid);
  }

  KilledWorkers killed_;
  std::vector<pid_t> pids_;
  const KilledWorkers::Clock::time_point begin_{std::chrono::hours(1)};
};

using std::chrono::milliseconds;

TEST_F(KilledWorkersTest, WhatOutlivesItsKillByTwoSecondsIsWrittenOff) {
  const pid_t pid = Add(milliseconds(0));
  EXPECT_TRUE(At(milliseconds(1'999)).empty());
  const auto written_off = At(milliseconds(2'500));
  ASSERT_EQ(written_off.size(), 1u);
  EXPECT_EQ(written_off[0].backend, "acme");
  EXPECT_EQ(written_off[0].pid, pid);
  EXPECT_EQ(written_off[0].since, milliseconds(2'500));
}

TEST_F(KilledWorkersTest, WhatEndsAfterAllIsForgotten) {
  const pid_t first = Add(milliseconds(0));
  const pid_t second = Add(milliseconds(1));
  End(first);
  const auto written_off = At(milliseconds(5'000));
  ASSERT_EQ(written_off.size(), 1u);
  EXPECT_EQ(written_off[0].pid, second);
}

TEST_F(KilledWorkersTest, WhatDiesInTimeIsNeverSeen) {
  End(Add(milliseconds(0)));
  EXPECT_TRUE(At(milliseconds(60'000)).empty());
}

}  // namespace
}  // namespace bulkhead::supervisor
