// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "tests/escape/table/attempt.h"

namespace bulkhead::tests {
namespace {

constexpr long kX32 = 0x40000000;
constexpr long kGarbage = 0x7badc0de00000000;

// The processor ends the process where the machine has no `int $0x80`, as on
// some virtual machines (core/supervisor/sandbox/testing/int80.h).
constexpr Expected kKilledInt80 = Everywhere("K|signal 11");

// The calls of the kernel's own probes, which some kernels execute before any
// filter. They do nothing for a process without a probe: uretprobe raises a
// SIGILL, for which the worker has a handler, and fails.
constexpr long kUretprobe = 335;
constexpr long kUprobe = 336;

// System calls of the 32-bit ABI: 5 is open, 64 is getppid.
std::string Interrupt(long number) {
  long result;
  asm volatile("int $0x80"
               : "=a"(result)
               : "a"(number), "b"(0), "c"(0), "d"(0)
               : "memory", "r8", "r9", "r10", "r11");
  return result >= 0 ? "allowed" : "errno " + std::to_string(-result);
}

std::string CloneWith(unsigned long flags) {
  const long pid = syscall(SYS_clone, flags, 0, 0, 0, 0);
  if (pid == 0) _exit(0);
  return Answer(pid);
}

// Returns the common answer for all namespaces, or the first that differs.
std::string CloneNamespaces(const Targets&) {
  std::string answer;
  for (const unsigned long one :
       {0x00000080ul, 0x00020000ul, 0x02000000ul, 0x04000000ul, 0x08000000ul,
        0x10000000ul, 0x20000000ul, 0x40000000ul}) {
    for (const unsigned long flags :
         {one | SIGCHLD, one | SIGCHLD | CLONE_PARENT}) {
      const std::string next = CloneWith(flags);
      if (!answer.empty() && next != answer) return next;
      answer = next;
    }
  }
  return answer;
}

std::string StartThread(const Targets&) {
  pthread_t thread;
  bool ran = false;
  const int error = pthread_create(
      &thread, nullptr,
      [](void* did) -> void* {
        *static_cast<bool*>(did) = true;
        return nullptr;
      },
      &ran);
  if (error != 0) return "no thread, error " + std::to_string(error);
  pthread_join(thread, nullptr);
  return Check(ran, "the thread did not run");
}

}  // namespace

std::vector<Attempt> SystemCallAttempts() {
  return {
      {1, "int80_getppid", kKilledInt80,
       [](const Targets&) { return Interrupt(64); }},
      {1, "int80_open", kKilledInt80,
       [](const Targets&) { return Interrupt(5); }},
      Call(2, "x32_getpid", kX32 | SYS_getpid),
      Call(2, "x32_read", kX32 | SYS_read),
      Call(2, "x32_execve", kX32 | 520),
      Call(3, "number_minus_one", -1),
      Call(3, "number_largest", 0x7fffffff),
      Call(3, "number_100000", 100000),
      Call(82, "uretprobe", kUretprobe, Everywhere("K|signal 4|EPERM")),
      Call(82, "uprobe", kUprobe, Everywhere("K|signal 4|ENXIO")),

      {4, "garbage_ioctl", Everywhere("E:ENOTTY"),
       [](const Targets&) {
         return Answer(syscall(SYS_ioctl, 0, kGarbage | TIOCSTI, "x"));
       }},
      {4, "garbage_fcntl_setfl", Everywhere("E:EPERM"),
       [](const Targets&) {
         return Answer(syscall(SYS_fcntl, 0, kGarbage | F_SETFL, 0));
       }},
      {4, "garbage_fcntl_getfd", Everywhere("ok"),
       [](const Targets&) {
         const long flags = syscall(SYS_fcntl, kGarbage, kGarbage | F_GETFD);
         return Check(flags >= 0, Answer(flags));
       }},
      {4, "garbage_clone_thread", Everywhere("E:EPERM"),
       [](const Targets&) { return CloneWith(kGarbage | 0x3d0f00); }},
      {4, "garbage_clone_worker", Everywhere("E:EPERM"),
       [](const Targets&) {
         return CloneWith(kGarbage | CLONE_PARENT | SIGCHLD);
       }},
      {4, "garbage_prctl_dumpable", Everywhere("E:EPERM"),
       [](const Targets&) {
         return Answer(syscall(SYS_prctl, kGarbage | PR_SET_DUMPABLE, 1));
       }},
      {4, "garbage_tgkill", Everywhere("E:EPERM"),
       [](const Targets& t) {
         return Answer(syscall(SYS_tgkill, kGarbage | t.application_pid,
                               t.application_pid, kGarbage | SIGUSR1));
       }},
      {4, "garbage_mmap_code", Everywhere("E:EACCES"),
       [](const Targets&) {
         return Answer(syscall(SYS_mmap, 0, 4096,
                               kGarbage | PROT_EXEC | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
       }},
      {4, "garbage_socket", Everywhere("E:EPERM"),
       [](const Targets&) {
         return Answer(syscall(SYS_socket, kGarbage | 2, 1, 0));
       }},

      Call(5, "clone3", SYS_clone3, Everywhere("E:ENOSYS")),
      {5, "pthread_create", Everywhere("ok"), StartThread},

      {6, "clone_namespaces", Everywhere("E:EPERM"), CloneNamespaces},
      {6, "unshare_time", kKilled,
       [](const Targets&) { return Answer(unshare(0x00000080)); }},
      {6, "unshare_mount", kKilled,
       [](const Targets&) { return Answer(unshare(CLONE_NEWNS)); }},
      {6, "unshare_cgroup", kKilled,
       [](const Targets&) { return Answer(unshare(CLONE_NEWCGROUP)); }},
      {6, "unshare_uts", kKilled,
       [](const Targets&) { return Answer(unshare(CLONE_NEWUTS)); }},
      {6, "unshare_ipc", kKilled,
       [](const Targets&) { return Answer(unshare(CLONE_NEWIPC)); }},
      {6, "unshare_user", kKilled,
       [](const Targets&) { return Answer(unshare(CLONE_NEWUSER)); }},
      {6, "unshare_pid", kKilled,
       [](const Targets&) { return Answer(unshare(CLONE_NEWPID)); }},
      {6, "unshare_net", kKilled,
       [](const Targets&) { return Answer(unshare(CLONE_NEWNET)); }},
      {6, "unshare_files", kKilled,
       [](const Targets&) { return Answer(unshare(CLONE_FILES)); }},
      Call(6, "setns", SYS_setns),
  };
}

}  // namespace bulkhead::tests
