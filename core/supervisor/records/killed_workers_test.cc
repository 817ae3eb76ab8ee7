// SPDX-License-Identifier: Apache-2.0
//
// bound: nothing waits here, the test makes the times up.
#include "core/supervisor/records/killed_workers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "ipc/testing/forked_child.h"

namespace bulkhead::records {
namespace {

// A test cannot make a process that survives SIGKILL. So KilledWorkers hears of
// kills that nobody sends: the children run until End().
class KilledWorkersTest : public testing::Test {
 protected:
  pid_t Add(std::chrono::milliseconds when) {
    const auto& child = children_.emplace_back(ipc::ForkedChild::Sleeping());
    killed_.Add("acme", ipc::UniqueFd(dup(child.pidfd())), begin_ + when);
    return child.pid();
  }
  std::vector<KilledWorkers::Worker> At(std::chrono::milliseconds when) {
    return killed_.WrittenOff(begin_ + when);
  }
  void End(pid_t pid) {
    for (auto& child : children_) {
      if (child.pid() == pid) child.Kill();
    }
  }

  KilledWorkers killed_;
  std::vector<ipc::ForkedChild> children_;
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

TEST_F(KilledWorkersTest, OfTooManyTheOldestIsForgotten) {
  const auto& child = children_.emplace_back(ipc::ForkedChild::Sleeping());
  for (size_t i = 0; i <= KilledWorkers::kMaxWorkers; ++i) {
    killed_.Add("acme", ipc::UniqueFd(dup(child.pidfd())),
                begin_ + milliseconds(i));
  }
  const auto written_off = At(milliseconds(10'000));
  ASSERT_EQ(written_off.size(), KilledWorkers::kMaxWorkers);
  EXPECT_EQ(written_off[0].since, milliseconds(9'999));
}

}  // namespace
}  // namespace bulkhead::records
