// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sockets/session_socket.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>

#include <chrono>
#include <thread>

#include "core/supervisor/testing/test_loop.h"
#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sockets {
namespace {

using std::chrono::milliseconds;

// bound: who is waited for ends a quarter too late in any case.
constexpr milliseconds kPatience{1'000};

// A child whose threads want one processor and get a quarter of it each.
ipc::ForkedChild Crowded() {
  return ipc::ForkedChild::Prepared([] {
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof(allowed), &allowed);
    int first = 0;
    while (!CPU_ISSET(first, &allowed)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof(one), &one);
    for (int i = 0; i < 4; ++i) {
      std::thread([] {
        for (volatile unsigned turns = 0;;) turns = turns + 1;
      }).detach();
    }
  });
}

class SessionSocketTest : public testing::Test {
 protected:
  // kj's destructors may throw, and a test fixture's may not.
  ~SessionSocketTest() noexcept override {}

  // Watches a child, and kills it a quarter of kPatience too late.
  void KillTooLate(const ipc::ForkedChild& child) {
    ASSERT_TRUE(socket_.Watch(child.pidfd(), [] {}).ok());
    killing_ = loop_.port.getTimer()
                   .afterDelay((5 * kPatience / 4).count() * kj::MILLISECONDS)
                   .then([&child] { child.Signal(SIGKILL); })
                   .eagerlyEvaluate(nullptr);
  }

  static ipc::UniqueFd OneEnd() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    const ipc::UniqueFd other(ends[1]);
    return ipc::UniqueFd(ends[0]);
  }

  supervisor::TestLoop loop_;
  kj::Promise<void> killing_ = kj::READY_NOW;
  SessionSocket socket_{loop_.port, OneEnd()};
};

TEST_F(SessionSocketTest, AnEndThatWaitsForAProcessorIsAwaitedLonger) {
  const ipc::ForkedChild child = Crowded();
  KillTooLate(child);
  EXPECT_TRUE(socket_.AwaitEndUnderWay(kPatience).wait(loop_.scope));
}

// As a process of thousands of threads that the kernel ends.
TEST_F(SessionSocketTest, AnEndIsAwaitedAsLongAsThreadsEnd) {
  const ipc::ForkedChild child = ipc::ForkedChild::Prepared([] {
    for (int quarters = 2; quarters < 10; quarters += 2) {
      std::thread([quarters] {
        // bound: the life of the thread, a part of the patience.
        std::this_thread::sleep_for(quarters * kPatience / 4);
      }).detach();
    }
  });
  ASSERT_TRUE(socket_.Watch(child.pidfd(), [] {}).ok());
  killing_ = loop_.port.getTimer()
                 .afterDelay((9 * kPatience / 4).count() * kj::MILLISECONDS)
                 .then([&child] { child.Signal(SIGKILL); })
                 .eagerlyEvaluate(nullptr);
  EXPECT_TRUE(socket_.AwaitEndUnderWay(kPatience).wait(loop_.scope));
}

TEST_F(SessionSocketTest, OneThatWaitsForNothingIsNot) {
  const ipc::ForkedChild child = ipc::ForkedChild::Sleeping();
  ASSERT_TRUE(socket_.Watch(child.pidfd(), [] {}).ok());
  EXPECT_FALSE(socket_.AwaitEndUnderWay(kPatience).wait(loop_.scope));
}

TEST_F(SessionSocketTest, AnotherEndIsAwaitedAsLongAsWasAskedFor) {
  const ipc::ForkedChild child = Crowded();
  KillTooLate(child);
  EXPECT_FALSE(socket_.AwaitEnd(kPatience).wait(loop_.scope));
}

}  // namespace
}  // namespace bulkhead::sockets
