// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/child_processes.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/pidfd.h"
#include "ipc/testing/forked_child.h"

namespace bulkhead::sandbox {
namespace {

using ipc::ForkedChild;

TEST(ChildProcessesTest, ListsThoseThatLive) {
  const ForkedChild first = ForkedChild::Sleeping();
  const ForkedChild second = ForkedChild::Sleeping();
  auto children = ChildrenOf(getpid());
  ASSERT_EQ(children.size(), 2u);
  EXPECT_EQ(children[0].inner_pid, first.pid());
  EXPECT_EQ(PidOf(children[0].pidfd.get()), first.pid());
  EXPECT_EQ(children[1].inner_pid, second.pid());

  // Dead and not reaped, the child is still in the kernel's list.
  syscall(SYS_pidfd_send_signal, children[0].pidfd.get(), SIGKILL, nullptr, 0);
  while (!HasEnded(first.pidfd())) {
  }
  children = ChildrenOf(getpid());
  ASSERT_EQ(children.size(), 1u);
  EXPECT_EQ(children[0].inner_pid, second.pid());
}

TEST(ChildProcessesTest, NobodyHasNone) { EXPECT_TRUE(ChildrenOf(0).empty()); }

}  // namespace
}  // namespace bulkhead::sandbox
