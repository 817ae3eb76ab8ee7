// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/lifecycle.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/testing/temporary_tree.h"
#include "core/supervisor/backend/external_events.h"
#include "core/supervisor/backend/testing/idle_start_context.h"
#include "core/supervisor/testing/test_loop.h"

namespace bulkhead::backend {
namespace {

// Counts what a Lifecycle asks of its keeper.
class CountingKeeper final : public BackendKeeper {
 public:
  kj::Promise<Status> StartSuccessor(unsigned) override {
    ++successors;
    return Status();
  }
  kj::Promise<Status> NeedSuccessor(unsigned number) override {
    return StartSuccessor(number);
  }
  void LookAgain() override { ++looks; }

  int successors = 0;
  int looks = 0;
};

// A backend whose shared object is missing: each start fails before a process
// is launched, so the actions of the table are seen without any. Those of a
// running backend are tested with real backends (tests/reload,
// tests/supervision).
class LifecycleTest : public testing::Test {
 protected:
  // kj's destructors may throw, and a test fixture's may not.
  ~LifecycleTest() noexcept override {}

  static discovery::BackendCandidate Candidate(const std::string& directory) {
    discovery::BackendCandidate candidate;
    candidate.entry_point.name = "acme";
    candidate.manifest.devices = {"acme"};
    candidate.devices = {"acme"};
    candidate.directory = directory;
    candidate.plugin_path = "missing.so";
    return candidate;
  }

  Status Wait(kj::Promise<Status> promise) { return promise.wait(loop_.scope); }
  // Lets everything happen that waits for no time to pass.
  void Settle() {
    kj::evalLast([] {}).wait(loop_.scope);
  }

  supervisor::TestLoop loop_;
  TemporaryTree tree_;
  IdleStartContext start_{loop_.port};
  CountingKeeper keeper_;
  Lifecycle lifecycle_{Candidate(tree_.path()), 1, start_.context(), keeper_};
  ExternalEvents external_events_{lifecycle_, start_.context().places};
};

TEST_F(LifecycleTest, FilesThatSettleDuringAStartAreLookedAtAgain) {
  auto start = lifecycle_.EnsureReady();
  ASSERT_EQ(lifecycle_.state(), BackendState::kStarting);
  EXPECT_TRUE(Wait(external_events_.FilesSettled()).ok());
  EXPECT_EQ(keeper_.looks, 1);
  EXPECT_EQ(keeper_.successors, 0);
}

TEST_F(LifecycleTest, AFailedStartIsNotRepeatedBeforeItsBackoffIsOver) {
  const Status failed = Wait(lifecycle_.EnsureReady());
  EXPECT_EQ(failed.code(), Code::kNotFound) << failed;
  EXPECT_EQ(lifecycle_.state(), BackendState::kBackingOff);
  EXPECT_NE(lifecycle_.reason().find("missing.so"), std::string::npos)
      << lifecycle_.reason();
  EXPECT_EQ(Wait(lifecycle_.EnsureReady()).message(), failed.message());
}

TEST_F(LifecycleTest, ARestartForgetsTheFailure) {
  (void)Wait(lifecycle_.EnsureReady());
  EXPECT_TRUE(Wait(external_events_.Restart()).ok());
  EXPECT_EQ(lifecycle_.state(), BackendState::kDiscovered);
  EXPECT_EQ(lifecycle_.reason(), "");
  EXPECT_EQ(lifecycle_.blame().BackoffLeft(), std::chrono::nanoseconds(0));
}

TEST_F(LifecycleTest, ASecondCallerJoinsTheStartUnderWay) {
  auto first = lifecycle_.EnsureReady();
  auto second = lifecycle_.EnsureReady();
  EXPECT_EQ(Wait(kj::mv(second)).code(), Code::kNotFound);
  EXPECT_EQ(Wait(kj::mv(first)).code(), Code::kNotFound);
}

TEST_F(LifecycleTest, ARestartForgetsFailuresAlsoDuringAStart) {
  lifecycle_.blame().CountFailure(blame::Culprit::kBackend,
                                  Code::kBackendUnavailable, "earlier");
  auto start = lifecycle_.EnsureReady();
  ASSERT_EQ(lifecycle_.state(), BackendState::kStarting);
  EXPECT_TRUE(Wait(external_events_.Restart()).ok());
  EXPECT_EQ(lifecycle_.blame().failures(blame::Culprit::kBackend), 0u);
}

TEST_F(LifecycleTest, ARestartAbandonsTheStartUnderWay) {
  // The caller joins the start that follows, which fails in its own right.
  auto start = lifecycle_.EnsureReady();
  EXPECT_TRUE(Wait(external_events_.Restart()).ok());
  EXPECT_EQ(lifecycle_.state(), BackendState::kDiscovered);
  EXPECT_EQ(Wait(kj::mv(start)).code(), Code::kNotFound);
}

TEST_F(LifecycleTest, ADisabledBackendRefusesUntilItIsEnabled) {
  EXPECT_TRUE(Wait(external_events_.Disable()).ok());
  EXPECT_TRUE(lifecycle_.disabled());
  const Status refused = Wait(lifecycle_.EnsureReady());
  EXPECT_EQ(refused.code(), Code::kBackendUnavailable);
  EXPECT_NE(refused.message().find("bulkhead enable acme"), std::string::npos)
      << refused;
  EXPECT_EQ(Wait(external_events_.Restart()).message(), refused.message());
  EXPECT_TRUE(Wait(external_events_.Enable()).ok());
  EXPECT_EQ(lifecycle_.state(), BackendState::kDiscovered);
  EXPECT_EQ(lifecycle_.reason(), "");
}

TEST_F(LifecycleTest, ARetiredBackendSendsCallersToItsSuccessor) {
  ASSERT_TRUE(external_events_.Retire());
  EXPECT_EQ(lifecycle_.state(), BackendState::kDraining);
  EXPECT_EQ(Wait(lifecycle_.EnsureReady()).code(), Code::kBackendLost);
  EXPECT_NE(lifecycle_.reason().find("successor"), std::string::npos);
}

TEST_F(LifecycleTest, ARetiredBackendIsDroppedWithItsLastSession) {
  bool dropped = false;
  auto drained = lifecycle_.WhenDrained()
                     .then([&dropped] { dropped = true; })
                     .eagerlyEvaluate(nullptr);
  lifecycle_.Raise(BackendEvent::kSessionsEnded);
  Settle();
  EXPECT_FALSE(dropped) << "it was not retired yet";
  ASSERT_TRUE(external_events_.Retire());
  lifecycle_.Raise(BackendEvent::kSessionsEnded);
  Settle();
  EXPECT_TRUE(dropped);
}

TEST_F(LifecycleTest, AStartThatFailsAfterTheBackendWasRetiredChangesNothing) {
  auto start = lifecycle_.EnsureReady();
  ASSERT_TRUE(external_events_.Retire());
  EXPECT_EQ(Wait(kj::mv(start)).code(), Code::kBackendLost);
  EXPECT_EQ(lifecycle_.state(), BackendState::kDraining);
}

TEST_F(LifecycleTest, TooManyFailuresQuarantineTheBackend) {
  for (const char* attempt : {"first", "second", "third"}) {
    ASSERT_NE(lifecycle_.state(), BackendState::kQuarantined) << attempt;
    lifecycle_.blame().CountFailure(blame::Culprit::kBackend,
                                    Code::kBackendUnavailable, attempt);
  }
  EXPECT_EQ(lifecycle_.state(), BackendState::kQuarantined);
  const Status refused = Wait(lifecycle_.EnsureReady());
  EXPECT_EQ(refused.code(), Code::kBackendUnavailable);
  EXPECT_NE(refused.message().find("third"), std::string::npos) << refused;
}

}  // namespace
}  // namespace bulkhead::backend
