// SPDX-License-Identifier: Apache-2.0
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "tests/escape/table/attempt.h"

namespace bulkhead::tests {
namespace {

char shell[] = "/bin/sh";
char* const no_strings[] = {nullptr};

std::string Forked(long pid) {
  if (pid == 0) _exit(0);
  return Answer(pid);
}

std::string Spawn(const Targets&) {
  char* const arguments[] = {shell, nullptr};
  pid_t pid;
  errno = posix_spawn(&pid, shell, nullptr, nullptr, arguments, no_strings);
  return Answer(errno == 0 ? 0 : -1);
}

std::string System(const Targets&) {
  errno = 0;
  // 127 << 8 means that no shell ran; errno says why.
  const int status = system("exit 0");
  return Answer(status == 0 || errno == 0 ? 0 : -1);
}

std::string Execute(const char* path) {
  return Answer(syscall(SYS_execve, path, no_strings, no_strings));
}

std::string Signal(int pid, int signal) {
  return Answer(syscall(SYS_tgkill, pid, pid, signal));
}

volatile sig_atomic_t aborts = 0;

std::string SignalOneself(const Targets&) {
  struct sigaction before;
  struct sigaction count = {};
  count.sa_handler = [](int) { aborts = aborts + 1; };
  sigaction(SIGABRT, &count, &before);
  const int had = aborts;
  const long result = syscall(SYS_tgkill, getpid(), gettid(), SIGABRT);
  sigaction(SIGABRT, &before, nullptr);
  if (result < 0) return Answer(result);
  return Check(aborts == had + 1, "no signal arrived");
}

// In stage 2 a fault without a handler would be logged by the kernel.
std::string HandleFault(const Targets&) {
  struct sigaction before;
  struct sigaction none = {};
  if (sigaction(SIGSEGV, &none, &before) != 0) return Answer(-1);
  return Answer(sigaction(SIGSEGV, &before, nullptr));
}

constexpr size_t kSetBytes = sizeof(uint64_t);
const uint64_t every_signal = ~uint64_t{0};

// Everybody can read which signals a thread blocks.
std::string BlockSignals(const Targets&) {
  uint64_t before = 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &before, kSetBytes);
  const long result = syscall(SYS_rt_sigprocmask, SIG_SETMASK, &every_signal,
                              nullptr, kSetBytes);
  const std::string answer = Answer(result);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, kSetBytes);
  return answer;
}

std::string WaitWithSignalsBlocked(const Targets&) {
  timespec now = {};
  return Answer(syscall(SYS_ppoll, nullptr, 0, &now, &every_signal, kSetBytes));
}

// The backend has blocked one while it was loaded.
std::string BlockedSignals(const Targets&) {
  uint64_t blocked = 0;
  if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &blocked, kSetBytes) !=
      0) {
    return Answer(-1);
  }
  return Check(blocked == 0, std::to_string(blocked));
}

// Executes what is no code, near which the secret is.
std::string Fault(const Targets&) {
  alignas(4096) static char secret[4096] = "a secret";
  reinterpret_cast<void (*)()>(secret)();
  return "allowed";
}

std::string Breakpoint(const Targets&) {
  asm volatile("int3");
  return "allowed";
}

// Installs a filter with which every call has `action`.
std::string Install(uint32_t action,
                    unsigned long flags = SECCOMP_FILTER_FLAG_TSYNC) {
  sock_filter filter = BPF_STMT(BPF_RET | BPF_K, action);
  const sock_fprog program = {.len = 1, .filter = &filter};
  return Answer(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}

std::string Control(unsigned long option, unsigned long value) {
  return Answer(prctl(static_cast<int>(option), value, 0, 0, 0));
}

}  // namespace

std::vector<Attempt> ProcessAttempts() {
  constexpr Expected kEperm = Everywhere("E:EPERM");
  return {
      {7, "fork", kEperm, [](const Targets&) { return Forked(fork()); }},
      {7, "sys_fork", kEperm,
       [](const Targets&) { return Forked(syscall(SYS_fork)); }},
      // Safe to call: the filter refuses vfork before parent and child share a
      // stack.
      Call(7, "sys_vfork", SYS_vfork, kEperm),
      {7, "clone_child", kEperm,
       [](const Targets&) {
         return Forked(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
       }},
      {7,
       "clone_sibling",
       {"K", "E:EPERM"},  // bulkheadd has not asked for a worker
       [](const Targets&) {
         return Forked(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0));
       }},
      {7, "posix_spawn", kEperm, Spawn},
      {7, "system", kEperm, System},

      {8, "execve_shell", kKilled,
       [](const Targets&) { return Execute(shell); }},
      {8, "execve_itself", kKilled,
       [](const Targets&) { return Execute("/proc/self/exe"); }},
      {8, "execve_nothing", kKilled,
       [](const Targets&) { return Execute(nullptr); }},
      Call(8, "execveat", SYS_execveat),
      {8, "execveat_descriptor", kKilled,
       [](const Targets&) {
         // Descriptor 5 of the zygote is the plugin, which is open and
         // executable.
         return Answer(syscall(SYS_execveat, 5, "", no_strings, no_strings,
                               0x1000 /* AT_EMPTY_PATH */));
       }},

      {9, "ptrace_seize_host", kKilled,
       [](const Targets& t) {
         return Answer(ptrace(PTRACE_SEIZE, t.application_pid, 0, 0));
       }},
      {9, "ptrace_attach_sibling", kKilled,
       [](const Targets& t) {
         return Answer(ptrace(PTRACE_ATTACH, t.sibling_pid, 0, 0));
       }},
      {9, "ptrace_traceme", kKilled,
       [](const Targets&) { return Answer(ptrace(PTRACE_TRACEME, 0, 0, 0)); }},
      Call(10, "process_vm_readv", SYS_process_vm_readv),
      Call(10, "process_vm_writev", SYS_process_vm_writev),
      Call(10, "process_madvise", SYS_process_madvise),
      Call(10, "kcmp", SYS_kcmp),
      {11, "pidfd_open_host", kKilled,
       [](const Targets& t) {
         return Answer(syscall(SYS_pidfd_open, t.application_pid, 0));
       }},
      Call(11, "pidfd_getfd", SYS_pidfd_getfd),
      Call(11, "pidfd_send_signal", SYS_pidfd_send_signal),

      {12, "kill_host", kEperm,
       [](const Targets& t) {
         return Answer(kill(t.application_pid, SIGUSR1));
       }},
      {12, "kill_everybody", kEperm,
       [](const Targets&) { return Answer(kill(-1, 0)); }},
      {12, "kill_group", kEperm,
       [](const Targets&) { return Answer(kill(0, 0)); }},
      {12, "tgkill_host", kEperm,
       [](const Targets& t) { return Signal(t.application_pid, SIGUSR1); }},
      {12,
       "tgkill_host_abort",
       {"E:ESRCH", "E:EPERM", "E:EPERM"},
       [](const Targets& t) { return Signal(t.application_pid, SIGABRT); }},
      {12, "tgkill_reaper_abort", kEperm,
       [](const Targets&) { return Signal(getppid(), SIGABRT); }},
      {12, "tkill", kEperm,
       [](const Targets& t) {
         return Answer(syscall(SYS_tkill, t.application_pid, SIGABRT));
       }},
      Call(12, "rt_sigqueueinfo", SYS_rt_sigqueueinfo),
      Call(12, "rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo),
      {89, "block_signals", {"allowed: no media yet", "E:EPERM"}, BlockSignals},
      {89,
       "wait_with_signals_blocked",
       {"allowed: no media yet", "E:EPERM"},
       WaitWithSignalsBlocked},
      {89, "blocked_signals", {"n/a: it has no media", "ok"}, BlockedSignals},
      {72, "handle_fault", {"allowed: no media yet", "E:EPERM"}, HandleFault},
      {72,
       "signal_stack",
       {"allowed: no media yet", "E:EPERM"},
       [](const Targets&) {
         stack_t stack;
         sigaltstack(nullptr, &stack);
         return Answer(syscall(SYS_sigaltstack, &stack, nullptr));
       }},
      {72, "fault", {"n/a: it has no media", "C:signal 11"}, Fault},
      {72, "breakpoint", {"n/a: it has no media", "C:signal 5"}, Breakpoint},
      {72,
       "return_without_frame",
       {"n/a: it has no media", "K"},
       [](const Targets&) { return Answer(syscall(SYS_rt_sigreturn)); }},
      // Stage 1 allows it, so that nobody names it.
      {72,
       "forbidden_with_media",
       {"n/a: it has no media", "K"},
       [](const Targets&) {
         return Answer(syscall(SYS_close_range, 100, 200, 0));
       }},
      // Stage 2 resets the handler of SIGABRT.
      {12, "tgkill_oneself", {"ok", "C:signal 6"}, SignalOneself},

      {13, "filter_allow_all", kKilled,
       [](const Targets&) { return Install(SECCOMP_RET_ALLOW); }},
      {13, "filter_log", kKilled,
       [](const Targets&) { return Install(SECCOMP_RET_LOG); }},
      {13, "filter_without_flags", kKilled,
       [](const Targets&) { return Install(SECCOMP_RET_ALLOW, 0); }},
      {13, "filter_bad_pointer", kKilled,
       [](const Targets&) {
         return Answer(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                               SECCOMP_FILTER_FLAG_TSYNC, -1L));
       }},
      {13, "filter_listener", kKilled,
       [](const Targets&) {
         return Answer(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                               SECCOMP_FILTER_FLAG_NEW_LISTENER, -1L));
       }},
      {13, "seccomp_strict", kKilled,
       [](const Targets&) {
         return Answer(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, 0));
       }},
      {13, "prctl_seccomp", kEperm,
       [](const Targets&) { return Control(PR_SET_SECCOMP, 2); }},

      {14, "clear_pdeathsig", kEperm,
       [](const Targets&) { return Control(PR_SET_PDEATHSIG, 0); }},
      {14, "dumpable", kEperm,
       [](const Targets&) { return Control(PR_SET_DUMPABLE, 1); }},
      {14, "any_tracer", kEperm,
       [](const Targets&) { return Control(PR_SET_PTRACER, -1ul); }},
      {14, "subreaper", kEperm,
       [](const Targets&) { return Control(PR_SET_CHILD_SUBREAPER, 1); }},
      {14, "keep_capabilities", kEperm,
       [](const Targets&) { return Control(PR_SET_KEEPCAPS, 1); }},
      {14, "ambient_capabilities", kEperm,
       [](const Targets&) { return Control(47 /* PR_CAP_AMBIENT */, 2); }},
      {14,
       "unset_no_new_privs",
       {"E:EINVAL", "E:EPERM"},  // the kernel itself lets nobody
       [](const Targets&) { return Control(PR_SET_NO_NEW_PRIVS, 0); }},
      {14, "unset_mdwe", kEperm,
       [](const Targets&) { return Control(65 /* PR_SET_MDWE */, 0); }},
      {14, "memory_map_of_itself", kEperm,
       [](const Targets&) { return Control(PR_SET_MM, 1); }},
      {14, "capset", kKilled,
       [](const Targets&) { return Answer(syscall(SYS_capset, -1L, -1L)); }},
      {14, "setuid", kKilled,
       [](const Targets&) { return Answer(syscall(SYS_setuid, 0)); }},
      {14, "setgroups", kKilled,
       [](const Targets&) { return Answer(syscall(SYS_setgroups, 0, 0)); }},

      {15, "personality", kKilled,
       [](const Targets&) {
         // The argument is READ_IMPLIES_EXEC and ADDR_NO_RANDOMIZE.
         return Answer(syscall(SYS_personality, 0x0440000));
       }},
  };
}

}  // namespace bulkhead::tests
