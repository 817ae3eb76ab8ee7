// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/zygote/clone.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "ipc/testing/forked_child.h"

namespace bulkhead::worker::zygote {
namespace {

// SiblingCloner is for processes with one thread, and gtest's parent must not
// become the parent of clones. So each test forks a caller. The clones that the
// caller makes are children of the test program.

int WaitForClone(pid_t pid) {
  int status = -1;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return status;
}

int Reported(int pipe_read) {
  int value = -1;
  EXPECT_EQ(::read(pipe_read, &value, sizeof(value)), ssize_t{sizeof(value)});
  return value;
}

void Report(int pipe_write, int value) {
  (void)!::write(pipe_write, &value, sizeof(value));
}

class SiblingClonerTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::pipe(pipe_), 0); }
  void TearDown() override {
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }
  int pipe_[2];
};

TEST_F(SiblingClonerTest, TheCloneIsAChildOfTheCallersParent) {
  const pid_t self = ::getpid();
  ipc::ForkedChild caller([&] {
    const auto cloner = SiblingCloner::Create();
    if (!cloner) return 1;
    const auto pid = cloner->Clone();
    if (!pid) return 2;
    if (*pid == 0) ::_exit(::getppid() == self ? 42 : 3);
    Report(pipe_[1], *pid);
    // The clone is no child of the caller.
    return ::waitpid(*pid, nullptr, __WALL) == -1 && errno == ECHILD ? 0 : 4;
  });
  EXPECT_EQ(caller.Wait(), 0);
  EXPECT_EQ(WEXITSTATUS(WaitForClone(Reported(pipe_[0]))), 42);
}

TEST_F(SiblingClonerTest, AbortInTheCloneEndsTheCloneAlone) {
  ipc::ForkedChild caller([&] {
    const auto cloner = SiblingCloner::Create();
    const auto pid = cloner->Clone();
    if (*pid == 0) {
      ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
      ::abort();
    }
    Report(pipe_[1], *pid);
    // Lives until the test asks it to end.
    ::pause();
    return 0;
  });
  const int status = WaitForClone(Reported(pipe_[0]));
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
  EXPECT_TRUE(caller.IsAlive()) << "the caller died too";
}

TEST_F(SiblingClonerTest, TheCloneKnowsItsOwnThreadAndCanMakeOthers) {
  ipc::ForkedChild caller([&] {
    const auto cloner = SiblingCloner::Create();
    const auto pid = cloner->Clone();
    if (*pid != 0) {
      Report(pipe_[1], *pid);
      return 0;
    }
    if (::gettid() != ::getpid()) return 5;
    int ran = 0;
    std::thread([&] { ran = 1; }).join();
    ::_exit(ran ? 43 : 6);
  });
  EXPECT_EQ(caller.Wait(), 0);
  EXPECT_EQ(WEXITSTATUS(WaitForClone(Reported(pipe_[0]))), 43);
}

TEST_F(SiblingClonerTest, ClonesAgainAndAgain) {
  constexpr int kClones = 20;
  ipc::ForkedChild caller([&] {
    const auto cloner = SiblingCloner::Create();
    for (int i = 0; i < kClones; ++i) {
      const auto pid = cloner->Clone();
      if (!pid) return 1;
      if (*pid == 0) ::_exit(i);
      Report(pipe_[1], *pid);
    }
    return 0;
  });
  for (int i = 0; i < kClones; ++i) {
    EXPECT_EQ(WEXITSTATUS(WaitForClone(Reported(pipe_[0]))), i);
  }
  EXPECT_EQ(caller.Wait(), 0);
}

}  // namespace
}  // namespace bulkhead::worker::zygote
