// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>

#include "ipc/unique_fd.h"

namespace bulkhead::ipc {

// A child process of a test: a fork of the test program that runs one function.
//
//   ForkedChild child([] { return IsLockedDown() ? 0 : 1; });
//   EXPECT_EQ(child.Wait(), 0);
//
// The child never returns into the test: it ends with _exit() and the result of
// the function, or with the signal that killed it. The kernel kills the child
// when the thread that forked it ends, so that a crash of the test leaves
// no process.
//
// The object signals and reaps through a pidfd. Code under test may therefore
// reap the child itself: Kill() and the destructor then do nothing and never
// reach another process that got the same pid.
//
// Not thread-safe. A moved-from object owns no child.
class ForkedChild {
 public:
  // Forks a child that exits with the result of `body`.
  explicit ForkedChild(const std::function<int()>& body);
  // Forks a child that runs `prepare` and then sleeps until a signal kills it.
  // Returns once `prepare` has returned in the child, or with a failure of the
  // current test if the child ended before that.
  static ForkedChild Prepared(const std::function<void()>& prepare);
  // Forks a child that sleeps until a signal kills it.
  static ForkedChild Sleeping();

  ForkedChild(ForkedChild&&) = default;
  ForkedChild& operator=(ForkedChild&&) = delete;
  // Kills the child, unless it has ended, and reaps it.
  ~ForkedChild();

  pid_t pid() const { return pid_; }
  // Returns the child's pidfd, which is readable once the child has ended.
  int pidfd() const { return pidfd_.get(); }

  void Signal(int signal) const;
  // Blocks until the child has ended and leaves it as a zombie.
  void AwaitEnd() const;
  // Blocks until a signal has stopped the child.
  void AwaitStop() const;
  // Blocks until the child has ended, reaps it and returns the wait status as
  // waitpid() gives it: 0 if the function returned 0. Returns -1 if the child
  // was reaped before.
  int Wait();
  // Returns true if the child runs or is stopped, that is, if it has neither
  // ended nor been reaped.
  bool IsAlive() const;
  // Sends SIGKILL and reaps the child.
  void Kill();

 private:
  pid_t pid_;
  UniqueFd pidfd_;
};

}  // namespace bulkhead::ipc
