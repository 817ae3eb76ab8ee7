// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/table/attempt_in_clone.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace bulkhead::tests {
namespace {

constexpr size_t kMostBytes = 400;
constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
constexpr timespec kPatience = {.tv_sec = 20, .tv_nsec = 0};

// Memory that the zygote and its clone share at the same address.
struct Shared {
  robust_list_head head;
  robust_list node;
  std::atomic<uint32_t> futex;  // the clone's tid, until it is marked
  std::atomic<bool> returned;
  std::atomic<int> fault;
  char text[kMostBytes];
};

Shared* shared = nullptr;

long Futex(int operation, uint32_t value, const timespec* patience) {
  return syscall(SYS_futex, &shared->futex, operation, value, patience, nullptr,
                 0);
}

[[noreturn]] void RunAndReport(const Attempt& attempt, const Targets& targets) {
  shared->head.list.next = &shared->node;
  shared->node.next = &shared->head.list;
  shared->head.futex_offset = static_cast<long>(offsetof(Shared, futex)) -
                              static_cast<long>(offsetof(Shared, node));
  shared->head.list_op_pending = nullptr;
  syscall(SYS_set_robust_list, &shared->head, sizeof shared->head);
  shared->futex = static_cast<uint32_t>(gettid()) | FUTEX_WAITERS;
  Futex(FUTEX_WAKE, 1, nullptr);
  for (const int fault : kFaults) {
    signal(fault, [](int number) {
      shared->fault = number;
      _exit(1);
    });
  }
  const std::string outcome = attempt.Run(targets);
  outcome.copy(shared->text, kMostBytes - 1);
  shared->returned = true;
  _exit(0);
}

// Waits for the end of the clone. Returns false if the clone runs too long.
bool AwaitEnd() {
  for (;;) {
    const uint32_t value = shared->futex;
    if ((value & FUTEX_OWNER_DIED) != 0) return true;
    if (Futex(FUTEX_WAIT, value, &kPatience) != 0 && errno == ETIMEDOUT) {
      return false;
    }
  }
}

}  // namespace

std::string RunInClone(const Attempt& attempt, const Targets& targets) {
  if (shared == nullptr) {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return "no memory to share";
    shared = static_cast<Shared*>(memory);
  }
  std::memset(static_cast<void*>(shared), 0, sizeof(Shared));
  const long pid =
      syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, 0);
  if (pid < 0) return "no clone: " + Answer(pid);
  if (pid == 0) RunAndReport(attempt, targets);
  if (!AwaitEnd()) return "endless";
  if (shared->returned) return shared->text;
  const int fault = shared->fault;
  return fault != 0 ? "signal " + std::to_string(fault) : "K";
}

}  // namespace bulkhead::tests
