// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/supervisor_watch.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "ipc/message_socket.h"
#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor_link {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kForEver{3'600'000};

// A child process in the place of a bulkheadd that answers nothing, and the
// other end of the connection to it.
class SupervisorWatchTest : public testing::Test {
 protected:
  std::shared_ptr<SupervisorWatch> Watch(milliseconds patience) {
    auto watch = SupervisorWatch::Of(silent_.pid(), patience).value();
    auto sockets = ipc::MakeSocketPair().value();
    watch->Ask(std::move(sockets.first));
    other_end_ = std::move(sockets.second);
    return watch;
  }

  // Returns once a check has sent its question, and waits for the answer.
  void AwaitQuestion() const {
    pollfd asked = {.fd = other_end_.get(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&asked, 1, -1), 1);
  }

  ipc::ForkedChild silent_ = ipc::ForkedChild::Sleeping();
  ipc::UniqueFd other_end_;
};

TEST_F(SupervisorWatchTest, AnInterruptEndsTheWaitForTheCheckOfAnotherThread) {
  const auto watch = Watch(kForEver);
  const ipc::UniqueFd first(::eventfd(0, EFD_CLOEXEC));
  const ipc::UniqueFd second(::eventfd(0, EFD_CLOEXEC));
  auto checking =
      std::async(std::launch::async, [&] { return watch->Check(first.get()); });
  AwaitQuestion();
  auto waiting = std::async(std::launch::async,
                            [&] { return watch->Check(second.get()); });
  const uint64_t one = 1;
  ASSERT_EQ(::write(second.get(), &one, sizeof(one)), 8);
  EXPECT_EQ(waiting.get().code(), Code::kDeadlineExceeded);
  EXPECT_TRUE(silent_.IsAlive());
  ASSERT_EQ(::write(first.get(), &one, sizeof(one)), 8);
  EXPECT_EQ(checking.get().code(), Code::kDeadlineExceeded);
  EXPECT_TRUE(silent_.IsAlive());
}

// A thread that sleeps is switched out once for each wait, so the number of
// waits sets a wait for an event apart from repeated looks.
TEST_F(SupervisorWatchTest,
       AThreadThatWaitsForAnotherOnesCheckSleepsUntilItsEnd) {
  // bound: the silent bulkheadd's.
  const auto watch = Watch(milliseconds(1'000));
  auto checking =
      std::async(std::launch::async, [&] { return watch->Check(-1); });
  AwaitQuestion();
  long sleeps = 0;
  auto waiting = std::async(std::launch::async, [&] {
    rusage before, after;
    ::getrusage(RUSAGE_THREAD, &before);
    Status found = watch->Check(-1);
    ::getrusage(RUSAGE_THREAD, &after);
    sleeps = after.ru_nvcsw - before.ru_nvcsw;
    return found;
  });
  const Status ended = checking.get();
  EXPECT_EQ(ended.code(), Code::kBackendLost);
  EXPECT_NE(ended.message().find("did not answer within 1000 ms"),
            std::string::npos)
      << ended;
  EXPECT_EQ(waiting.get().message(), ended.message());
  EXPECT_LT(sleeps, 10);
  silent_.AwaitEnd();
}

}  // namespace
}  // namespace bulkhead::supervisor_link
