// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/thread_status.h"

#include <gtest/gtest.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/testing/forked_child.h"
#include "ipc/worker_exit.h"

namespace bulkhead::sandbox {
namespace {

void AllowAll() {
  sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog program = {.len = 1, .filter = &allow};
  // Binds the calling thread alone, and those that it starts from then on.
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) _exit(1);
}

void NoNewPrivs() { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

void StartThread() {
  pthread_t thread;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
  const auto wait = [](void*) -> void* {
    while (true) pause();
  };
  if (pthread_create(&thread, &small, wait, nullptr) != 0) _exit(1);
}

using Process = ipc::ForkedChild;

TEST(CheckEveryThreadTest, AcceptsAProcessUnderAllItsFilters) {
  const Process process = Process::Prepared([] {
    NoNewPrivs();
    AllowAll();
    AllowAll();
    StartThread();
  });
  const Status status = CheckEveryThread(process.pidfd(), 2);
  EXPECT_TRUE(status.ok()) << status;
}

TEST(CheckEveryThreadTest, RefusesAProcessWithoutFilter) {
  const Process process = Process::Prepared(NoNewPrivs);
  const Status status = CheckEveryThread(process.pidfd(), 1);
  EXPECT_EQ(status.code(), Code::kSandboxUnavailable);
}

TEST(CheckEveryThreadTest, RefusesOneThreadThatTheFilterMissed) {
  const Process process = Process::Prepared([] {
    NoNewPrivs();
    StartThread();
    AllowAll();
  });
  const Status status = CheckEveryThread(process.pidfd(), 1);
  EXPECT_EQ(status.code(), Code::kSandboxUnavailable);
  EXPECT_NE(status.message().find("thread"), std::string::npos) << status;
}

TEST(CheckEveryThreadTest, RefusesALockdownThatIsNotComplete) {
  const Process process = Process::Prepared([] {
    NoNewPrivs();
    AllowAll();
  });
  if (!ReadThreadStatus("/proc/self")->filters) {
    GTEST_SKIP() << "this kernel does not count filters";
  }
  EXPECT_TRUE(CheckEveryThread(process.pidfd(), 1).ok());
  const Status status = CheckEveryThread(process.pidfd(), 2);
  EXPECT_EQ(status.code(), Code::kSandboxUnavailable);
}

TEST(CheckEveryThreadTest, RefusesWhoMayGainPrivileges) {
  if (geteuid() != 0) GTEST_SKIP() << "only root filters itself without it";
  const Process process = Process::Prepared(AllowAll);
  const Status status = CheckEveryThread(process.pidfd(), 1);
  EXPECT_EQ(status.code(), Code::kSandboxUnavailable);
  EXPECT_NE(status.message().find("no_new_privs"), std::string::npos) << status;
}

TEST(CheckEveryThreadTest, RefusesMoreThreadsThanAreChecked) {
  const Process process = Process::Prepared([] {
    NoNewPrivs();
    AllowAll();
    // With that of main(), one more than is checked.
    for (int thread = 0; thread < 4096; ++thread) StartThread();
  });
  const Status status = CheckEveryThread(process.pidfd(), 1);
  EXPECT_EQ(status.code(), Code::kSandboxUnavailable);
  EXPECT_NE(status.message().find("4096 threads"), std::string::npos) << status;
}

void HandleFaults() {
  for (const int fault : ipc::kFaults) signal(fault, [](int) { _exit(1); });
}

TEST(CheckSignalsTest, WantsHandlersOfFaultsAndNoOthers) {
  const Process handles = Process::Prepared(HandleFaults);
  const Status status = CheckSignals(handles.pidfd());
  EXPECT_TRUE(status.ok()) << status;
  const Process lacks_one = Process::Prepared([] {
    HandleFaults();
    signal(SIGTRAP, SIG_DFL);
  });
  EXPECT_EQ(CheckSignals(lacks_one.pidfd()).code(), Code::kSandboxUnavailable);
  const Process has_another = Process::Prepared([] {
    HandleFaults();
    signal(SIGSYS, [](int) {});
  });
  EXPECT_EQ(CheckSignals(has_another.pidfd()).code(),
            Code::kSandboxUnavailable);
}

TEST(CheckSignalsTest, WantsNoneBlocked) {
  const Process blocks_one = Process::Prepared([] {
    HandleFaults();
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGSEGV);
    sigprocmask(SIG_BLOCK, &one, nullptr);
  });
  EXPECT_EQ(CheckSignals(blocks_one.pidfd()).code(), Code::kSandboxUnavailable);
}

TEST(CheckEveryThreadTest, SaysThatTheProcessIsGone) {
  Process process = Process::Prepared([] {
    NoNewPrivs();
    AllowAll();
  });
  process.Kill();
  EXPECT_EQ(CheckEveryThread(process.pidfd(), 1).code(), Code::kBackendLost);
}

}  // namespace
}  // namespace bulkhead::sandbox
