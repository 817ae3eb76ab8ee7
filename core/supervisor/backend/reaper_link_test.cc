// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/reaper_link.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <chrono>
#include <optional>
#include <utility>

#include "core/supervisor/testing/test_loop.h"
#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"

namespace bulkhead::backend {
namespace {

using Clock = std::chrono::steady_clock;

class Listener : public ReaperLink::Listener {
 public:
  void OnStarted(pid_t, ipc::UniqueFd) override {}
  void OnWatched(pid_t, ipc::UniqueFd) override {}
  void OnRefused(pid_t) override {}
  void OnStarved(pid_t) override {}
  void OnExited(pid_t, int) override {}
  void OnReaperGone() override { gone = true; }

  bool gone = false;
};

class Tasks : public kj::TaskSet::ErrorHandler {
 public:
  void taskFailed(kj::Exception&& exception) override {
    ADD_FAILURE() << exception.getDescription().cStr();
  }

  kj::TaskSet set{*this};
};

class ReaperLinkTest : public testing::Test {
 protected:
  ReaperLinkTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    reapers_end_ = ipc::UniqueFd(ends[1]);
    link_.emplace(loop_.port, child_.pid(),
                  ipc::UniqueFd(::dup(child_.pidfd())), ipc::UniqueFd(ends[0]),
                  nullptr, ending_, tasks_->set, listener_);
    tasks_->set.add(link_->Serve());
    tasks_->set.add(link_->Reap());
  }
  // kj's destructors may throw, and a test fixture's may not.
  ~ReaperLinkTest() noexcept override {
    tasks_.reset();
    link_.reset();
  }

  void RunUntilTheReaperIsGone() {
    const auto end = Clock::now() + std::chrono::seconds(20);
    while (!listener_.gone && Clock::now() < end) {
      loop_.port.getTimer().afterDelay(10 * kj::MILLISECONDS).wait(loop_.scope);
    }
    ASSERT_TRUE(listener_.gone);
  }

  supervisor::TestLoop loop_;
  const ipc::ForkedChild child_ = ipc::ForkedChild::Sleeping();
  ipc::UniqueFd reapers_end_;
  EndingReapers ending_{loop_.port};
  Listener listener_;
  std::optional<Tasks> tasks_{std::in_place};
  std::optional<ReaperLink> link_;
};

// The kernel closes the socket of a reaper that was killed first, then ends the
// other processes of its namespace, and only then can be asked how it ended. In
// between, bulkheadd may have something to say to it.
TEST_F(ReaperLinkTest, OneThatCannotBeSpokenToIsWaitedForSinceItMayBeEnding) {
  reapers_end_.reset();
  link_->Kill(2);
  EXPECT_FALSE(listener_.gone);
  ASSERT_EQ(::kill(child_.pid(), SIGKILL), 0);
  RunUntilTheReaperIsGone();
  ASSERT_TRUE(link_->exit().has_value());
  EXPECT_EQ(link_->exit()->kind, blame::ProcessExit::Kind::kSignaled);
  EXPECT_EQ(link_->exit()->value, SIGKILL);
}

// Nobody else than bulkheadd can end it then.
TEST_F(ReaperLinkTest, OneThatClosesItsSocketAndGoesOnIsKilled) {
  reapers_end_.reset();
  RunUntilTheReaperIsGone();
  EXPECT_FALSE(link_->exit().has_value());
}

}  // namespace
}  // namespace bulkhead::backend
