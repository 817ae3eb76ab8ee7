// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/violations.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bulkhead::tests {
namespace {

constexpr long kX32Bit = 0x40000000;
constexpr int kGetppidOfI386 = 64;

void Trace() { ptrace(PTRACE_SEIZE, -1, nullptr, nullptr); }

void LiveOn(int) {}

void TraceFromAnotherThread() {
  const auto trace = [](void*) -> void* {
    Trace();
    return nullptr;
  };
  pthread_t thread;
  if (pthread_create(&thread, nullptr, trace, nullptr) == 0) {
    pthread_join(thread, nullptr);
  }
}

void CallAsI386(long number) {
  asm volatile("int $0x80"
               : "+a"(number)
               :
               : "memory", "r8", "r9", "r10", "r11");
}

}  // namespace

bool Violate(const std::string& name) {
  if (name == "connect") {
    connect(-1, nullptr, 0);
  } else if (name == "execve") {
    syscall(SYS_execve, nullptr, nullptr, nullptr);
  } else if (name == "execveat") {
    syscall(SYS_execveat, -1, nullptr, nullptr, nullptr, 0);
  } else if (name == "ptrace") {
    Trace();
  } else if (name == "i386") {
    CallAsI386(kGetppidOfI386);
  } else if (name == "x32") {
    syscall(kX32Bit | SYS_getppid);
  } else if (name == "number_100000") {
    syscall(100'000);
  } else if (name == "number_minus_one") {
    syscall(-1);
  } else if (name == "second_thread") {
    TraceFromAnotherThread();
  } else if (name == "signals_blocked") {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    Trace();
  } else if (name == "sigsys_handler") {
    signal(SIGSYS, LiveOn);
    Trace();
  } else if (name == "sigabrt_handler") {
    signal(SIGABRT, LiveOn);
    Trace();
  } else if (name == "call_of_stage1") {
    syscall(SYS_close_range, ~0U, ~0U, 0);
  } else {
    return false;
  }
  return true;
}

bool Speculates() {
  bool speculates = false;
  for (const unsigned long which :
       {PR_SPEC_STORE_BYPASS, PR_SPEC_INDIRECT_BRANCH}) {
    const int state = prctl(PR_GET_SPECULATION_CTRL, which, 0, 0, 0);
    const bool can_switch = state > 0 && (state & PR_SPEC_PRCTL) != 0;
    speculates |= can_switch && (state & PR_SPEC_FORCE_DISABLE) == 0;
    speculates |=
        prctl(PR_SET_SPECULATION_CTRL, which, PR_SPEC_ENABLE, 0, 0) == 0;
  }
  return speculates;
}

bool StartIdleThread() {
  const auto idle = [](void*) -> void* {
    while (true) poll(nullptr, 0, -1);
  };
  pthread_t thread;
  return pthread_create(&thread, nullptr, idle, nullptr) == 0;
}

}  // namespace bulkhead::tests
