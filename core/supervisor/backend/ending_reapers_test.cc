// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/ending_reapers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "core/base/pidfd.h"
#include "core/supervisor/backend/test_loop.h"
#include "ipc/testing/forked_child.h"

namespace bulkhead::supervisor {
namespace {

using Clock = std::chrono::steady_clock;

class EndingReapersTest : public testing::Test {
 protected:
  // kj's destructors may throw, and those of gtest's fixtures may not.
  ~EndingReapersTest() noexcept override {}

  // Runs the loop until no reaper is left; each turn waits for an event.
  void RunUntilNoneIsLeft() {
    const auto end = Clock::now() + std::chrono::seconds(20);
    while (reapers_->count() > 0 && Clock::now() < end) {
      loop_.port.getTimer().afterDelay(10 * kj::MILLISECONDS).wait(loop_.scope);
    }
    EXPECT_EQ(reapers_->count(), 0u);
  }

  TestLoop loop_;
  std::optional<EndingReapers> reapers_{std::in_place, loop_.port};
};

TEST_F(EndingReapersTest, AddingOneDoesNotWait) {
  const ipc::ForkedChild endless = ipc::ForkedChild::Sleeping();
  reapers_->Add(endless.pidfd(), nullptr);
  // Who waits for it kills it in the end.
  EXPECT_FALSE(HasEnded(endless.pidfd()));
  EXPECT_EQ(reapers_->count(), 1u);
}

TEST_F(EndingReapersTest, OneThatDoesNotEndIsKilled) {
  const ipc::ForkedChild endless = ipc::ForkedChild::Sleeping();
  reapers_->Add(endless.pidfd(), nullptr);
  RunUntilNoneIsLeft();
  EXPECT_TRUE(HasEnded(endless.pidfd()));
}

TEST_F(EndingReapersTest, DestroyingThemEndsWhoIsLeft) {
  const ipc::ForkedChild endless = ipc::ForkedChild::Sleeping();
  reapers_->Add(endless.pidfd(), nullptr);
  reapers_.reset();
  EXPECT_TRUE(HasEnded(endless.pidfd()));
}

}  // namespace
}  // namespace bulkhead::supervisor
