// SPDX-License-Identifier: Apache-2.0
#include "core/base/pidfd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"

namespace bulkhead {
namespace {

ipc::UniqueFd Open(pid_t pid) {
  return ipc::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

TEST(PidfdTest, TellsWhoseItIs) {
  EXPECT_EQ(PidOf(Open(::getpid()).get()), ::getpid());
  EXPECT_EQ(PidOf(Open(::getppid()).get()), ::getppid());
}

TEST(PidfdTest, OfADeadProcessIsZero) {
  ipc::ForkedChild child([] { return 0; });
  ASSERT_EQ(child.Wait(), 0);
  EXPECT_EQ(PidOf(child.pidfd()), 0);
}

TEST(PidfdTest, AnEndIsKnownBeforeAnybodyHasReapedIt) {
  EXPECT_FALSE(HasEnded(Open(::getpid()).get()));
  EXPECT_TRUE(HasEnded(-1));
  ipc::ForkedChild child([] { return 0; });
  child.AwaitEnd();
  EXPECT_TRUE(HasEnded(child.pidfd()));
  EXPECT_EQ(child.Wait(), 0) << "it had been reaped";
}

TEST(PidfdTest, AStoppedProcessIsToldFromOneThatWaits) {
  ipc::ForkedChild child([] {
    ::raise(SIGSTOP);
    return 0;
  });
  siginfo_t info = {};
  ASSERT_EQ(::waitid(P_PIDFD, static_cast<id_t>(child.pidfd()), &info,
                     WSTOPPED | WNOWAIT),
            0);
  EXPECT_TRUE(IsStopped(child.pidfd()));
  EXPECT_FALSE(HasEnded(child.pidfd()));
  ::syscall(SYS_pidfd_send_signal, child.pidfd(), SIGCONT, nullptr, 0);
  EXPECT_EQ(child.Wait(), 0);
  EXPECT_FALSE(IsStopped(child.pidfd()));
  EXPECT_FALSE(IsStopped(Open(::getppid()).get()));
}

TEST(PidfdTest, AProcessDoesNotNameItsState) {
  const auto child =
      ipc::ForkedChild::Prepared([] { ::prctl(PR_SET_NAME, "State: T"); });
  EXPECT_FALSE(IsStopped(child.pidfd()));
  child.Signal(SIGSTOP);
  child.AwaitStop();
  EXPECT_TRUE(IsStopped(child.pidfd()));
}

TEST(PidfdTest, OfAnythingElseIsZero) {
  EXPECT_EQ(PidOf(-1), 0);
  const ipc::UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(PidOf(null.get()), 0);
}

}  // namespace
}  // namespace bulkhead
