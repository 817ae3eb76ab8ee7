// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/escape/table/attempt.h"

namespace bulkhead::tests {
namespace {

// A call that no stage allows.
long Violate() { return syscall(SYS_setns, -1, 0); }

std::string ViolateWithHandler(const Targets&) {
  struct sigaction handle = {};
  handle.sa_handler = [](int) {};
  sigaction(SIGSYS, &handle, nullptr);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  return Answer(Violate());
}

std::string ViolateInThread(const Targets&) {
  pthread_t thread;
  if (pthread_create(
          &thread, nullptr,
          [](void*) -> void* {
            Violate();
            return nullptr;
          },
          nullptr) != 0) {
    return "no thread";
  }
  pthread_join(thread, nullptr);
  return "only the thread ended";
}

std::string Raise(int resource) {
  rlimit64 limit = {};
  if (syscall(SYS_prlimit64, 0, resource, nullptr, &limit) != 0) {
    return "cannot ask: " + Answer(-1);
  }
  // No limit is higher than RLIM64_INFINITY, so there is nothing to raise.
  if (limit.rlim_max == RLIM64_INFINITY) return "EPERM";
  ++limit.rlim_max;
  return Answer(syscall(SYS_prlimit64, 0, resource, &limit, nullptr));
}

}  // namespace

std::vector<Attempt> KernelAttempts() {
  constexpr Expected kEperm = Everywhere("E:EPERM");
  // In the full tier, the pid namespace does not contain this process.
  constexpr Expected kTold = {
      "E:ESRCH", "E:ESRCH",
      "allowed: without namespaces how others are scheduled can be asked",
      "allowed: without namespaces how others are scheduled can be asked"};
  return {
      Call(16, "bpf", SYS_bpf),
      // Each ruleset costs memory of the kernel that nothing counts.
      Call(16, "landlock_create_ruleset", SYS_landlock_create_ruleset),
      Call(16, "landlock_add_rule", SYS_landlock_add_rule),
      Call(16, "landlock_restrict_self", SYS_landlock_restrict_self),
      Call(16, "perf_event_open", SYS_perf_event_open),
      Call(16, "userfaultfd", SYS_userfaultfd),
      Call(16, "keyctl", SYS_keyctl),
      Call(16, "add_key", SYS_add_key),
      Call(16, "request_key", SYS_request_key),
      Call(17, "io_uring_setup", SYS_io_uring_setup),
      Call(17, "io_uring_enter", SYS_io_uring_enter),
      Call(17, "io_uring_register", SYS_io_uring_register),
      Call(17, "io_setup", SYS_io_setup),

      Call(18, "mount", SYS_mount),
      Call(18, "umount2", SYS_umount2),
      Call(18, "pivot_root", SYS_pivot_root),
      Call(18, "chroot", SYS_chroot),
      Call(18, "fsopen", SYS_fsopen),
      Call(18, "fsconfig", SYS_fsconfig),
      Call(18, "fsmount", SYS_fsmount),
      Call(18, "fspick", SYS_fspick),
      Call(18, "move_mount", SYS_move_mount),
      Call(18, "open_tree", SYS_open_tree),
      Call(18, "mount_setattr", SYS_mount_setattr),

      Call(19, "init_module", SYS_init_module),
      Call(19, "finit_module", SYS_finit_module),
      Call(19, "delete_module", SYS_delete_module),
      Call(19, "kexec_load", SYS_kexec_load),
      Call(19, "kexec_file_load", SYS_kexec_file_load),
      Call(19, "reboot", SYS_reboot),
      Call(19, "swapon", SYS_swapon),
      Call(19, "swapoff", SYS_swapoff),
      Call(19, "acct", SYS_acct),
      Call(19, "syslog", SYS_syslog),
      Call(19, "quotactl", SYS_quotactl),
      Call(19, "settimeofday", SYS_settimeofday),
      Call(19, "clock_settime", SYS_clock_settime),
      Call(19, "adjtimex", SYS_adjtimex),
      Call(19, "iopl", SYS_iopl),
      Call(19, "ioperm", SYS_ioperm),
      Call(19, "modify_ldt", SYS_modify_ldt),
      Call(19, "sethostname", SYS_sethostname),

      Call(20, "name_to_handle_at", SYS_name_to_handle_at),
      Call(20, "open_by_handle_at", SYS_open_by_handle_at),
      Call(20, "lookup_dcookie", SYS_lookup_dcookie),
      Call(20, "fanotify_init", SYS_fanotify_init),
      Call(20, "inotify_init1", SYS_inotify_init1),
      Call(20, "inotify_add_watch", SYS_inotify_add_watch),

      {21, "violate_with_handler", kKilled, ViolateWithHandler},
      {22, "violate_in_thread", kKilled, ViolateInThread},

      {24, "clock_of_host", kKilled,
       [](const Targets& t) {
         timespec time;
         // The clock id of a process's CPU time, as clock_getcpuclockid
         // computes it.
         return Answer(
             syscall(SYS_clock_gettime, (~t.application_pid << 3) | 2, &time));
       }},
      {24, "clock_of_descriptor", kKilled,
       [](const Targets&) {
         timespec time;
         return Answer(syscall(SYS_clock_gettime, (~0 << 3) | 3, &time));
       }},
      {24, "sleep_on_clock_of_host", kKilled,
       [](const Targets& t) {
         const timespec time = {};
         return Answer(syscall(SYS_clock_nanosleep,
                               (~t.application_pid << 3) | 2, 0, &time, 0));
       }},

      Call(25, "sched_setscheduler", SYS_sched_setscheduler, kEperm),
      Call(25, "sched_setattr", SYS_sched_setattr, kEperm),
      Call(25, "sched_setparam", SYS_sched_setparam, kEperm),
      {25, "raise_priority", kEperm,
       [](const Targets&) { return Answer(setpriority(PRIO_PROCESS, 0, -5)); }},
      {25, "priority_of_host", kEperm,
       [](const Targets& t) {
         const auto host = static_cast<id_t>(t.application_pid);
         return Answer(setpriority(PRIO_PROCESS, host, 19));
       }},
      {25, "affinity_of_host", kEperm,
       [](const Targets& t) {
         cpu_set_t set;
         CPU_ZERO(&set);
         CPU_SET(0, &set);
         return Answer(sched_setaffinity(t.application_pid, sizeof set, &set));
       }},
      Call(25, "ioprio_set", SYS_ioprio_set, kEperm),

      Call(26, "getpriority", SYS_getpriority),
      {26, "limits_of_host", kEperm,
       [](const Targets& t) {
         rlimit64 limit;
         return Answer(syscall(SYS_prlimit64, t.application_pid, RLIMIT_NOFILE,
                               nullptr, &limit));
       }},
      {26, "raise_limit_of_files", kEperm,
       [](const Targets&) { return Raise(RLIMIT_NOFILE); }},
      {26, "raise_limit_of_tasks", kEperm,
       [](const Targets&) { return Raise(RLIMIT_NPROC); }},
      Call(26, "setrlimit", SYS_setrlimit, kEperm),
      {26, "read_affinity_of_host", kTold,
       [](const Targets& t) {
         cpu_set_t set;
         return Answer(sched_getaffinity(t.application_pid, sizeof set, &set));
       }},
      {26, "read_scheduler_of_host", kTold,
       [](const Targets& t) {
         return Answer(sched_getscheduler(t.application_pid));
       }},
  };
}

}  // namespace bulkhead::tests
