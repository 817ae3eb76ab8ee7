// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/ending_reapers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "core/base/pidfd.h"
#include "core/base/testing/temporary_tree.h"
#include "core/supervisor/sandbox/cgroup.h"
#include "core/supervisor/testing/test_loop.h"
#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"

namespace bulkhead::backend {
namespace {

using Clock = std::chrono::steady_clock;

class EndingReapersTest : public testing::Test {
 protected:
  // kj's destructors may throw, and a test fixture's may not.
  ~EndingReapersTest() noexcept override {}

  // Runs the loop until no reaper is left; each turn waits for an event.
  void RunUntilNoneIsLeft() {
    const auto end = Clock::now() + std::chrono::seconds(20);
    while (reapers_->count() > 0 && Clock::now() < end) {
      loop_.port.getTimer().afterDelay(10 * kj::MILLISECONDS).wait(loop_.scope);
    }
    EXPECT_EQ(reapers_->count(), 0u);
  }

  supervisor::TestLoop loop_;
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

// A directory that holds a file cannot be removed, as a cgroup cannot that
// holds a process.
TEST_F(EndingReapersTest, ACgroupIsRemovedOnceItsLastProcessHasEnded) {
  const TemporaryTree tree;
  const std::filesystem::path directory = tree.path() + "/life";
  std::filesystem::create_directory(directory);
  std::ofstream(directory / "process").close();
  reapers_->Add(std::make_unique<sandbox::Cgroup>(directory, ipc::UniqueFd()));
  EXPECT_EQ(reapers_->count(), 1u);
  std::filesystem::remove(directory / "process");
  RunUntilNoneIsLeft();
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST_F(EndingReapersTest, ACgroupWithAProcessThatStaysIsLeftBehind) {
  const TemporaryTree tree;
  const std::filesystem::path directory = tree.path() + "/life";
  std::filesystem::create_directory(directory);
  std::ofstream(directory / "process").close();
  const ipc::ForkedChild ended([] { return 0; });
  reapers_->Add(ended.pidfd(),
                std::make_unique<sandbox::Cgroup>(directory, ipc::UniqueFd()));
  RunUntilNoneIsLeft();
  EXPECT_TRUE(std::filesystem::exists(directory));
}

}  // namespace
}  // namespace bulkhead::backend
