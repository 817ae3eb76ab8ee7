// SPDX-License-Identifier: Apache-2.0
#include "tests/support/debugger.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

namespace bulkhead::tests {

Debugger::Debugger(pid_t pid) : thread_([this, pid] { Attach(pid); }) {
  attached_.acquire();
}

void Debugger::Attach(pid_t pid) {
  int status = 0;
  stopped_ = ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0 &&
             ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr) == 0 &&
             waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status);
  attached_.release();
  while (stopped_ && waitpid(pid, &status, __WALL) == pid &&
         WIFSTOPPED(status)) {
  }
}

}  // namespace bulkhead::tests
