// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/reaper/children.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bulkhead::worker {
namespace {

template <typename Body>
pid_t Fork(Body body) {
  const pid_t pid = fork();
  if (pid == 0) {
    body();
    _exit(0);
  }
  return pid;
}

[[noreturn]] void WaitForever() {
  while (true) pause();
}

void AwaitEnd(const ipc::UniqueFd& pidfd) {
  pollfd wait = {.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&wait, 1, 10'000), 1);
}

ipc::UniqueFd Pidfd(pid_t pid) {
  return ipc::UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

TEST(ChildrenTest, ReportsHowTheZygoteEnded) {
  const pid_t zygote = Fork([] { _exit(7); });
  Children children(zygote);
  AwaitEnd(Pidfd(zygote));
  const auto ended = children.ReapOne();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->pid, zygote);
  EXPECT_TRUE(WIFEXITED(ended->wait_status));
  EXPECT_EQ(WEXITSTATUS(ended->wait_status), 7);
  EXPECT_FALSE(children.ReapOne());
}

TEST(ChildrenTest, WorkerThatEndedBeforeItWasWatchedIsReported) {
  const pid_t zygote = Fork(WaitForever);
  Children children(zygote);
  const pid_t worker = Fork([] { raise(SIGKILL); });
  AwaitEnd(Pidfd(worker));
  EXPECT_FALSE(children.ReapOne());

  const ipc::UniqueFd pidfd = children.Watch(worker);
  ASSERT_TRUE(pidfd);
  AwaitEnd(pidfd);
  const auto ended = children.ReapOne();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->pid, worker);
  EXPECT_TRUE(WIFSIGNALED(ended->wait_status));
  EXPECT_EQ(WTERMSIG(ended->wait_status), SIGKILL);

  const ipc::UniqueFd zygote_end = Pidfd(zygote);
  children.Kill(zygote);
  AwaitEnd(zygote_end);
  EXPECT_TRUE(children.ReapOne());
}

TEST(ChildrenTest, RefusesWhatIsNoUnwatchedChild) {
  const pid_t zygote = Fork(WaitForever);
  const pid_t worker = Fork(WaitForever);
  Children children(zygote);
  EXPECT_FALSE(children.Watch(zygote));
  EXPECT_FALSE(children.Watch(getpid()));
  EXPECT_FALSE(children.Watch(getppid()));
  EXPECT_FALSE(children.Watch(0));
  EXPECT_FALSE(children.Watch(-1));
  EXPECT_TRUE(children.Watch(worker));
  EXPECT_FALSE(children.Watch(worker));

  for (const pid_t pid : {worker, zygote}) {
    const ipc::UniqueFd end = Pidfd(pid);
    children.Kill(pid);
    AwaitEnd(end);
    EXPECT_EQ(children.ReapOne()->pid, pid);
  }
}

TEST(ChildrenTest, KillsOnlyWhatIsWatched) {
  const pid_t zygote = Fork(WaitForever);
  const pid_t stranger = Fork(WaitForever);
  Children children(zygote);
  children.Kill(stranger);
  children.Kill(-1);
  siginfo_t info = {};
  EXPECT_EQ(waitid(P_PID, static_cast<id_t>(stranger), &info,
                   WEXITED | WNOHANG | WNOWAIT),
            0);
  EXPECT_EQ(info.si_pid, 0);
  for (const pid_t pid : {zygote, stranger}) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
}

}  // namespace
}  // namespace bulkhead::worker
