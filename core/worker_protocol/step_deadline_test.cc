// SPDX-License-Identifier: Apache-2.0
//
// bound: nothing waits here, the test makes the times up.
#include "core/worker_protocol/step_deadline.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "ipc/testing/forked_child.h"

namespace bulkhead::worker_protocol {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kTimeout{16'000};

// A worker whose delays and a clock whose time are as the test says.
class StepDeadlineTest : public testing::Test {
 protected:
  static constexpr pid_t kThread = 7;

  bool GoesOnAt(milliseconds since) { return deadline_.GoesOn(begin_ + since); }
  void Look() {
    ASSERT_TRUE(GoesOnAt(kTimeout / 4));
    ASSERT_EQ(reads_, 1);
  }

  int reads_ = 0;
  RunDelays delays_ = {{kThread, milliseconds(900)}};
  const StepDeadline::Clock::time_point begin_{std::chrono::hours(1)};
  StepDeadline deadline_{kTimeout,
                         [this] {
                           ++reads_;
                           return delays_;
                         },
                         begin_};
};

TEST_F(StepDeadlineTest, AQuickStepNeverLooksAtTheWorker) {
  for (int since = 0; since < 4'000; since += 10) {
    EXPECT_TRUE(GoesOnAt(milliseconds(since)));
  }
  EXPECT_EQ(reads_, 0);
}

TEST_F(StepDeadlineTest, WithoutOverloadItIsOverAtTheTimeout) {
  Look();
  EXPECT_TRUE(GoesOnAt(kTimeout - milliseconds(1)));
  EXPECT_FALSE(GoesOnAt(kTimeout));
  EXPECT_EQ(reads_, 2);
}

TEST_F(StepDeadlineTest, ItGoesOnForAsLongAsTheWorkerWaited) {
  Look();
  delays_[kThread] += milliseconds(5'000);
  EXPECT_TRUE(GoesOnAt(kTimeout));
  EXPECT_TRUE(GoesOnAt(kTimeout + milliseconds(4'999)));
  EXPECT_FALSE(GoesOnAt(kTimeout + milliseconds(5'000)));
}

TEST_F(StepDeadlineTest, ItGoesOnByOneTimeoutAtMostAndLooksSeldom) {
  Look();
  milliseconds now = kTimeout / 4;
  for (; GoesOnAt(now); now += milliseconds(1)) {
    // It waits for nine tenths of the time.
    delays_[kThread] = milliseconds(900) + (now - kTimeout / 4) * 9 / 10;
  }
  EXPECT_LE(now, 2 * kTimeout);
  EXPECT_GE(now, 2 * kTimeout - kTimeout / 8);
  EXPECT_LE(reads_, 12);
}

TEST_F(StepDeadlineTest, TheThreadThatWaitedMostCounts) {
  delays_[8] = milliseconds(20'000);
  Look();
  delays_[kThread] += milliseconds(2'000);
  delays_[8] += milliseconds(3'000);
  delays_[9] = milliseconds(1'500);  // began since
  EXPECT_TRUE(GoesOnAt(kTimeout));
  EXPECT_TRUE(GoesOnAt(kTimeout + milliseconds(2'999)));
  EXPECT_FALSE(GoesOnAt(kTimeout + milliseconds(3'000)));
}

TEST_F(StepDeadlineTest, ALittleWaitIsNotWorthAnother) {
  Look();
  delays_[kThread] += milliseconds(999);
  EXPECT_FALSE(GoesOnAt(kTimeout));
}

TEST_F(StepDeadlineTest, WhoCannotBeLookedAtGetsNoMore) {
  delays_.clear();
  Look();
  EXPECT_FALSE(GoesOnAt(kTimeout));
}

// We had no processor ourselves, or were stopped.
TEST_F(StepDeadlineTest, TheTimeThatWeCameLateIsNotTheWorkers) {
  EXPECT_TRUE(GoesOnAt(kTimeout / 4 + milliseconds(6'000)));
  EXPECT_TRUE(GoesOnAt(kTimeout));
  EXPECT_TRUE(GoesOnAt(kTimeout + milliseconds(5'999)));
  EXPECT_FALSE(GoesOnAt(kTimeout + milliseconds(6'000)));
}

TEST_F(StepDeadlineTest, WhoComesTwoTimeoutsLateFindsItOver) {
  EXPECT_FALSE(GoesOnAt(3 * kTimeout));
}

TEST_F(StepDeadlineTest, ATimeoutOfNothingIsOverAtOnce) {
  StepDeadline none(
      milliseconds(0), [] { return RunDelays(); }, begin_);
  EXPECT_FALSE(none.GoesOn(begin_));
}

TEST_F(StepDeadlineTest, ProgressBeginsTheTimeoutAnew) {
  deadline_.Renew(kTimeout, begin_ + milliseconds(5'000));
  EXPECT_TRUE(GoesOnAt(kTimeout / 4 + milliseconds(5'000)));
  EXPECT_TRUE(GoesOnAt(kTimeout + milliseconds(4'999)));
  EXPECT_FALSE(GoesOnAt(kTimeout + milliseconds(5'000)));
}

TEST_F(StepDeadlineTest, EverMoreProgressEndsAfterAHundredTimeouts) {
  milliseconds now{0};
  while (GoesOnAt(now)) {
    now += kTimeout / 8;
    deadline_.Renew(kTimeout, begin_ + now);
  }
  EXPECT_TRUE(deadline_.used_up());
  EXPECT_GE(now, kTimeout * StepDeadline::kMostTimeouts);
  EXPECT_LE(now, kTimeout * (StepDeadline::kMostTimeouts + 1));
}

TEST_F(StepDeadlineTest, WhatTheHostTookCountsAgainstNoRenewal) {
  const milliseconds late = kTimeout * StepDeadline::kMostTimeouts;
  deadline_.Extend(milliseconds(1));
  deadline_.Renew(kTimeout, begin_ + late);
  EXPECT_FALSE(deadline_.used_up());
  deadline_.Renew(kTimeout, begin_ + late + milliseconds(1));
  EXPECT_TRUE(deadline_.used_up());
}

// What the kernel's clock does when the machine is suspended, CLOCK_MONOTONIC
// does not count; that it is the one is all there is to show here.
TEST(StepDeadlineClock, IsMonotonic) {
  static_assert(StepDeadline::Clock::is_steady);
  const auto now_of = [](clockid_t clock) {
    timespec now = {};
    clock_gettime(clock, &now);
    return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
  };
  const auto before = now_of(CLOCK_MONOTONIC);
  const nanoseconds now = StepDeadline::Clock::now().time_since_epoch();
  EXPECT_LE(before, now);
  EXPECT_LE(now, now_of(CLOCK_MONOTONIC));
}

// Two processes on one processor: each waits for the other.
TEST(RunDelaysTest, GrowWhileAProcessWaitsForAProcessor) {
  EXPECT_TRUE(ReadRunDelays(0).empty());
  const auto spin_on_first_processor = []() -> int {
    cpu_set_t first;
    CPU_ZERO(&first);
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof(allowed), &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &allowed)) continue;
      CPU_SET(cpu, &first);
      break;
    }
    sched_setaffinity(0, sizeof(first), &first);
    // A loop without any effect may be taken for one that is never reached.
    volatile bool spinning = true;
    while (spinning) {
    }
    return 0;
  };
  ipc::ForkedChild child(spin_on_first_processor);
  ipc::ForkedChild rival(spin_on_first_processor);
  const auto deadline = ipc::Deadline::After(milliseconds(20'000));
  nanoseconds waited{0};
  while (waited < milliseconds(200) && !deadline.passed()) {
    const RunDelays delays = ReadRunDelays(child.pid());
    if (delays.contains(child.pid())) waited = delays.at(child.pid());
  }
  child.Kill();
  rival.Kill();
  if (waited == nanoseconds(0)) {
    GTEST_SKIP() << "this kernel does not count how long a process waits";
  }
  EXPECT_GE(waited, milliseconds(200));
  EXPECT_TRUE(ReadRunDelays(child.pid()).empty());
}

}  // namespace
}  // namespace bulkhead::worker_protocol
