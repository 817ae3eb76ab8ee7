// SPDX-License-Identifier: Apache-2.0
#include "ipc/testing/forked_child.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <utility>

namespace bulkhead::ipc {
namespace {

TEST(ForkedChildTest, ReturnsTheResultOfTheFunction) {
  ForkedChild child([] { return 7; });
  const int status = child.Wait();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(ForkedChildTest, ReturnsTheSignalThatKilledTheChild) {
  const int status = ForkedChild([] { return raise(SIGKILL); }).Wait();
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST(ForkedChildTest, IsKilledAndReapedWithTheObject) {
  std::optional<ForkedChild> child = ForkedChild::Sleeping();
  const pid_t pid = child->pid();
  EXPECT_TRUE(child->IsAlive());
  child.reset();
  EXPECT_EQ(waitpid(pid, nullptr, WNOHANG), -1);
}

TEST(ForkedChildTest, AMovedFromObjectKillsNothing) {
  std::optional<ForkedChild> first = ForkedChild::Sleeping();
  const ForkedChild second = *std::move(first);
  first.reset();
  EXPECT_TRUE(second.IsAlive());
}

TEST(ForkedChildTest, AChildThatOthersReapedIsNeitherAliveNorWaitedFor) {
  ForkedChild child([] { return 0; });
  ASSERT_EQ(waitpid(child.pid(), nullptr, 0), child.pid());
  EXPECT_FALSE(child.IsAlive());
  EXPECT_EQ(child.Wait(), -1);
}

TEST(ForkedChildTest, AnAwaitedEndIsStillToBeReaped) {
  ForkedChild child([] { return 3; });
  child.AwaitEnd();
  EXPECT_FALSE(child.IsAlive());
  EXPECT_EQ(WEXITSTATUS(child.Wait()), 3);
}

TEST(ForkedChildTest, AStoppedChildIsAlive) {
  const ForkedChild child = ForkedChild::Sleeping();
  child.Signal(SIGSTOP);
  child.AwaitStop();
  EXPECT_TRUE(child.IsAlive());
}

TEST(ForkedChildTest, IsPreparedWhenItIsReturned) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  const ForkedChild child = ForkedChild::Prepared(
      [&] { EXPECT_EQ(write(write_end.get(), "ab", 2), 2); });
  char bytes[2];
  EXPECT_EQ(read(read_end.get(), bytes, sizeof(bytes)), 2);
  EXPECT_TRUE(child.IsAlive());
}

TEST(ForkedChildTest, AChildThatEndsWhilePreparingFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(ForkedChild::Prepared([] { _exit(1); }),
                          "ended before it was prepared");
}

}  // namespace
}  // namespace bulkhead::ipc
