// SPDX-License-Identifier: Apache-2.0
#include "core/base/pidfd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  const ipc::UniqueFd pidfd = Open(child);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(PidOf(pidfd.get()), 0);
}

TEST(PidfdTest, AnEndIsKnownBeforeAnybodyHasReapedIt) {
  EXPECT_FALSE(HasEnded(Open(::getpid()).get()));
  EXPECT_TRUE(HasEnded(-1));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  const ipc::UniqueFd pidfd = Open(child);
  siginfo_t info;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT),
            0);
  EXPECT_TRUE(HasEnded(pidfd.get()));
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST(PidfdTest, OfAnythingElseIsZero) {
  EXPECT_EQ(PidOf(-1), 0);
  const ipc::UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(PidOf(null.get()), 0);
}

}  // namespace
}  // namespace bulkhead
