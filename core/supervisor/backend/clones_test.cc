// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/clones.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/supervisor/testing/test_loop.h"
#include "ipc/message_socket.h"
#include "ipc/testing/forked_child.h"

namespace bulkhead::backend {
namespace {

// Ignores what reaper, zygote and clones report.
class Listeners : public ReaperLink::Listener,
                  public ZygoteLink::Listener,
                  public Clones::Owner {
 public:
  void OnStarted(pid_t, ipc::UniqueFd) override {}
  void OnWatched(pid_t, ipc::UniqueFd) override {}
  void OnRefused(pid_t) override {}
  void OnStarved(pid_t) override {}
  void OnExited(pid_t, int) override {}
  void OnReaperGone() override {}
  Status OnCloned(ipc::schema::Cloned::Reader) override { return Status(); }
  Status OnCloneFailed(ipc::schema::CloneFailed::Reader) override {
    return Status();
  }
  void OnZygoteGone(const Status&) override {}
  void OnCloneAsked() override {}
  void OnCloneAnswered() override {}
  void EndStrangers() override {}
};

class Tasks : public kj::TaskSet::ErrorHandler {
 public:
  void taskFailed(kj::Exception&& exception) override {
    ADD_FAILURE() << exception.getDescription().cStr();
  }

  kj::TaskSet set{*this};
};

// A zygote that is only its socket, whose other end the test has.
class ClonesTest : public testing::Test {
 protected:
  ClonesTest() { tasks_->set.add(zygote_.Serve()); }
  // kj's destructors may throw, and a test fixture's may not.
  ~ClonesTest() noexcept override { tasks_.reset(); }

  using Sockets = std::pair<ipc::UniqueFd, ipc::UniqueFd>;

  supervisor::TestLoop loop_;
  const ipc::ForkedChild child_ = ipc::ForkedChild::Sleeping();
  Sockets reaper_sockets_ = ipc::MakeSocketPair().value();
  Sockets zygote_sockets_ = ipc::MakeSocketPair().value();
  Sockets session_sockets_ = ipc::MakeSocketPair().value();
  EndingReapers ending_{loop_.port};
  sandbox::HeldParts parts_;
  sandbox::ExpectedCalls expected_{{}, /*reads_memory=*/false, parts_};
  const sandbox::LoadedMemory loading_;
  Listeners listeners_;
  std::optional<Tasks> tasks_{std::in_place};
  ReaperLink reaper_{loop_.port,
                     child_.pid(),
                     ipc::UniqueFd(::dup(child_.pidfd())),
                     std::move(reaper_sockets_.first),
                     nullptr,
                     ending_,
                     tasks_->set,
                     listeners_};
  ZygoteLink zygote_{loop_.port,
                     std::move(zygote_sockets_.first),
                     sandbox::Forbidden::kKill,
                     expected_,
                     loading_,
                     tasks_->set,
                     listeners_};
  WatchedWorkers workers_{loop_.port.getTimer()};
  Clones clones_{loop_.port, zygote_,  reaper_,     workers_,
                 expected_,  loading_, tasks_->set, listeners_};
};

// How the zygote ended is not known yet, and decides whose fault that was. So
// the clone blames nobody, and ends nobody.
TEST_F(ClonesTest, OneThatIsGivenUpWhileTheZygoteEndsSaysThatItDied) {
  // bound: shorter than bulkheadd waits for the report of an end.
  auto clone =
      clones_.Clone(Clones::Kind::kSession, std::move(session_sockets_.second),
                    std::chrono::milliseconds(100), {});
  zygote_sockets_.second.reset();
  const auto worker = clone.wait(loop_.scope);
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().code(), Code::kBackendLost);
  EXPECT_EQ(worker.error().message(), "the backend's zygote died");
  EXPECT_EQ(zygote_.end(), "");
}

TEST_F(ClonesTest, AZygoteThatDoesNotAnswerIsEnded) {
  // bound: the test waits until it is over.
  auto clone =
      clones_.Clone(Clones::Kind::kSession, std::move(session_sockets_.second),
                    std::chrono::milliseconds(100), {});
  const auto worker = clone.wait(loop_.scope);
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().code(), Code::kBackendLost);
  EXPECT_NE(worker.error().message().find("did not help to clone"),
            std::string::npos);
  EXPECT_FALSE(zygote_.alive());
}

}  // namespace
}  // namespace bulkhead::backend
