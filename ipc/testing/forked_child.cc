// SPDX-License-Identifier: Apache-2.0
#include "ipc/testing/forked_child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace bulkhead::ipc {

namespace {

[[noreturn]] void SleepForever() {
  while (true) pause();
}

// Calls waitid() for one child, again if a signal handler interrupts the call.
// Returns false if the child was reaped before.
bool WaitForEvent(int pidfd, int events, siginfo_t* info) {
  while (waitid(P_PIDFD, static_cast<id_t>(pidfd), info, events) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

}  // namespace

ForkedChild::ForkedChild(const std::function<int()>& body) {
  // Output that is still buffered would be printed by the child as well.
  std::fflush(stdout);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    _exit(body());
  }
  if (pid_ > 0) {
    pidfd_ = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  }
  // Without its child, the test cannot continue.
  if (!pidfd_) {
    std::perror("cannot fork a child of the test");
    std::abort();
  }
}

ForkedChild ForkedChild::Prepared(const std::function<void()>& prepare) {
  std::array<int, 2> ends = {};
  if (pipe(ends.data()) != 0) {
    std::perror("cannot make a pipe to a child of the test");
    std::abort();
  }
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  ForkedChild child([&]() -> int {
    prepare();
    if (write(write_end.get(), "r", 1) != 1) return 1;
    SleepForever();
  });
  // Only the child may hold the write end, or its death would not end the read.
  write_end.reset();
  char ready;
  EXPECT_EQ(read(read_end.get(), &ready, 1), 1)
      << "the child ended before it was prepared";
  return child;
}

ForkedChild ForkedChild::Sleeping() {
  return ForkedChild([]() -> int { SleepForever(); });
}

ForkedChild::~ForkedChild() {
  if (pidfd_) Kill();
}

void ForkedChild::Signal(int signal) const {
  syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0);
}

void ForkedChild::AwaitEnd() const {
  siginfo_t info = {};
  WaitForEvent(pidfd_.get(), WEXITED | WNOWAIT, &info);
}

void ForkedChild::AwaitStop() const {
  siginfo_t info = {};
  WaitForEvent(pidfd_.get(), WSTOPPED, &info);
}

int ForkedChild::Wait() {
  siginfo_t info = {};
  if (!WaitForEvent(pidfd_.get(), WEXITED, &info)) return -1;
  switch (info.si_code) {
    case CLD_EXITED:
      return W_EXITCODE(info.si_status, 0);
    case CLD_DUMPED:
      return W_EXITCODE(0, info.si_status) | WCOREFLAG;
    default:
      return W_EXITCODE(0, info.si_status);
  }
}

bool ForkedChild::IsAlive() const {
  siginfo_t info = {};
  return WaitForEvent(pidfd_.get(), WEXITED | WNOHANG | WNOWAIT, &info) &&
         info.si_pid == 0;
}

void ForkedChild::Kill() {
  Signal(SIGKILL);
  Wait();
}

}  // namespace bulkhead::ipc
