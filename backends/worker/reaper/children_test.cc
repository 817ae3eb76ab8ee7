// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/reaper/children.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "ipc/error.h"
#include "ipc/testing/forked_child.h"

namespace bulkhead::worker::reaper {
namespace {

using ipc::ForkedChild;

void AwaitEnd(int pidfd) {
  pollfd wait = {.fd = pidfd, .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&wait, 1, 60'000), 1);
}

TEST(ChildrenTest, ReportsHowTheZygoteEnded) {
  const ForkedChild zygote([] { return 7; });
  Children children(zygote.pid());
  AwaitEnd(zygote.pidfd());
  const auto ended = children.ReapOne();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->pid, zygote.pid());
  EXPECT_TRUE(WIFEXITED(ended->wait_status));
  EXPECT_EQ(WEXITSTATUS(ended->wait_status), 7);
  EXPECT_FALSE(children.ReapOne());
}

TEST(ChildrenTest, WorkerThatEndedBeforeItWasWatchedIsReported) {
  const ForkedChild zygote = ForkedChild::Sleeping();
  Children children(zygote.pid());
  const ForkedChild worker([] { return raise(SIGKILL); });
  AwaitEnd(worker.pidfd());
  EXPECT_FALSE(children.ReapOne());

  const ipc::UniqueFd pidfd = children.Watch(worker.pid()).value();
  ASSERT_TRUE(pidfd);
  AwaitEnd(pidfd.get());
  const auto ended = children.ReapOne();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->pid, worker.pid());
  EXPECT_TRUE(WIFSIGNALED(ended->wait_status));
  EXPECT_EQ(WTERMSIG(ended->wait_status), SIGKILL);

  children.Kill(zygote.pid());
  AwaitEnd(zygote.pidfd());
  EXPECT_TRUE(children.ReapOne());
}

TEST(ChildrenTest, RefusesWhatIsNoUnwatchedChild) {
  const ForkedChild zygote = ForkedChild::Sleeping();
  const ForkedChild worker = ForkedChild::Sleeping();
  Children children(zygote.pid());
  EXPECT_FALSE(children.Watch(zygote.pid()));
  EXPECT_FALSE(children.Watch(getpid()));
  EXPECT_FALSE(children.Watch(getppid()));
  EXPECT_FALSE(children.Watch(0));
  EXPECT_FALSE(children.Watch(-1));
  EXPECT_TRUE(children.Watch(worker.pid()));
  EXPECT_FALSE(children.Watch(worker.pid()));

  for (const ForkedChild* child : {&worker, &zygote}) {
    children.Kill(child->pid());
    AwaitEnd(child->pidfd());
    EXPECT_EQ(children.ReapOne()->pid, child->pid());
  }
}

// Otherwise the backend would be blamed for a child that is its own.
TEST(ChildrenTest, AChildForWhichThereIsNoDescriptorIsNotRefused) {
  const ForkedChild zygote([] { return 0; });
  const ForkedChild worker([] { return 0; });
  Children children(zygote.pid());
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto starved = children.Watch(worker.pid());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(starved);
  EXPECT_EQ(starved.error().code, ipc::Code::kResourceExhausted);
  EXPECT_TRUE(children.Watch(worker.pid()));
}

// Its pid may be another child's by then.
TEST(ChildrenTest, NoDescriptorIsKeptOfAChildThatWasReaped) {
  const ForkedChild zygote = ForkedChild::Sleeping();
  const ForkedChild worker([] { return 0; });
  Children children(zygote.pid());
  auto pidfd = children.Watch(worker.pid());
  ASSERT_TRUE(pidfd);
  children.Keep(worker.pid(), *std::move(pidfd));
  AwaitEnd(worker.pidfd());
  ASSERT_TRUE(children.ReapOne());
  EXPECT_FALSE(children.Watch(worker.pid()));
  children.Kill(zygote.pid());
}

TEST(ChildrenTest, KillsOnlyWhatIsWatched) {
  const ForkedChild zygote = ForkedChild::Sleeping();
  const ForkedChild stranger = ForkedChild::Sleeping();
  Children children(zygote.pid());
  children.Kill(stranger.pid());
  // A SIGKILL before it would have ended the stranger first.
  children.Kill(zygote.pid());
  AwaitEnd(zygote.pidfd());
  EXPECT_TRUE(stranger.IsAlive());
}

}  // namespace
}  // namespace bulkhead::worker::reaper
