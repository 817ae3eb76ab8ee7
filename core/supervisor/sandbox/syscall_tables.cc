// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/syscall_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "ipc/descriptors.h"

#ifndef __x86_64__
#error "the tables of system calls are written for x86-64"
#endif

namespace bulkhead::sandbox {
namespace {

constexpr uint64_t kInt = 0xffffffff;
constexpr uint64_t kLong = ~uint64_t{0};

// The exact flags with which pthread_create() of glibc and musl calls clone().
// None of them makes a namespace or a process.
constexpr uint64_t kThreadFlags =
    CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
    CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

// The flags with which the zygote clones a session worker, its sibling. Further
// flags are allowed only from kTidFlags.
constexpr uint64_t kWorkerFlags = CLONE_PARENT | SIGCHLD;
// The flags that say where the thread id is stored. CLONE_CHILD_CLEARTID is not
// allowed: at the end of the worker, the kernel would wake the waiters on that
// address, which may be a page of a file.
constexpr uint64_t kTidFlags = CLONE_PARENT_SETTID | CLONE_CHILD_SETTID;

class TableBuilder {
 public:
  using Numbers = std::initializer_list<int>;
  using Conditions = std::vector<Condition>;

  void Allow(Numbers syscalls, std::string_view reason) {
    for (const int number : syscalls) table_.push_back({number, {}, 0, reason});
  }
  void AllowIf(int syscall, Conditions when, std::string_view reason) {
    table_.push_back({syscall, std::move(when), 0, reason});
  }
  void AskIf(int syscall, Conditions when, std::string_view reason) {
    table_.push_back({syscall, std::move(when), 0, reason, true});
  }
  void Answer(int error, Numbers syscalls, std::string_view reason) {
    for (const int number : syscalls) {
      table_.push_back({number, {}, error, reason});
    }
  }
  void AnswerIf(int error, int syscall, Conditions when,
                std::string_view reason) {
    table_.push_back({syscall, std::move(when), error, reason});
  }
  void Append(Table more) {
    table_.insert(table_.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
  }
  Table Build() && { return std::move(table_); }

 private:
  Table table_;
};

// Flags of open() that create or truncate. O_TMPFILE contains O_DIRECTORY,
// which a program needs to read a directory.
constexpr uint64_t kCreating = O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
constexpr uint64_t kIoctlType = 0xff00;

// Returns rules that refuse mappings that RLIMIT_DATA does not count. The
// clones of a zygote would also share its shared anonymous memory. These rules
// must come before a table's own rules for mmap.
Table UncountedMappings() {
  TableBuilder t;
  constexpr uint64_t kSharedAnonymous = MAP_SHARED | MAP_ANONYMOUS;
  t.AnswerIf(EPERM, SYS_mmap, {{3, kSharedAnonymous, kSharedAnonymous}},
             "no memory that sessions share");
  for (const uint64_t flag : {MAP_GROWSDOWN, MAP_HUGETLB}) {
    t.AnswerIf(EPERM, SYS_mmap, {{3, flag, flag}},
               "no memory outside of RLIMIT_DATA");
  }
  return std::move(t).Build();
}

// Returns the rules that all three tables contain: the calls that each program
// of a backend needs once it is loaded. A table's own rules come first.
Table Base() {
  TableBuilder t;
  // The mask ignores FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME.
  constexpr uint64_t kFutexCommand = FUTEX_CMD_MASK & kInt;
  // Waits are allowed without FUTEX_PRIVATE_FLAG too, because pthread_join()
  // waits without the flag: the kernel wakes it without the flag.
  for (const uint64_t command : {FUTEX_WAIT, FUTEX_WAIT_BITSET}) {
    t.AllowIf(SYS_futex, {{1, kFutexCommand, command}}, "locks");
  }
  constexpr uint64_t kPrivateCommand = kFutexCommand | FUTEX_PRIVATE_FLAG;
  t.AllowIf(SYS_futex, {{1, kPrivateCommand, FUTEX_WAKE}, {2, kInt, 1}},
            "the host sleeps on a word of the rings");
  for (const uint64_t command : {FUTEX_WAKE, FUTEX_REQUEUE, FUTEX_CMP_REQUEUE,
                                 FUTEX_WAKE_OP, FUTEX_WAKE_BITSET}) {
    // The highest bit of argument 5 says that FUTEX_WAKE_OP shifts its operand.
    // The kernel logs a shift that is too far, so no shift is allowed.
    const uint64_t shifts = command == FUTEX_WAKE_OP ? 0x80000000 : 0;
    t.AllowIf(
        SYS_futex,
        {{1, kPrivateCommand, command | FUTEX_PRIVATE_FLAG}, {5, shifts, 0}},
        "locks");
    t.AnswerIf(EINVAL, SYS_futex, {{1, kPrivateCommand, command}},
               "all who have the same page of a file would be woken");
  }
  t.Answer(ENOSYS, {SYS_futex}, "locks that lend priority reach the scheduler");
  t.Allow({SYS_munmap, SYS_mremap, SYS_brk}, "malloc");
  for (const uint64_t advice :
       {MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED,
        MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_DONTDUMP, MADV_DODUMP,
        MADV_DONTFORK, MADV_DOFORK, MADV_POPULATE_READ, MADV_POPULATE_WRITE}) {
    t.AllowIf(SYS_madvise, {{2, kInt, advice}}, "malloc");
  }
  t.Answer(EINVAL, {SYS_madvise},
           "the rest reaches others: pages merged with theirs or dropped for "
           "them, holes in shared memory, exact counts in /proc/vmstat");
  t.AllowIf(SYS_mprotect, {{2, PROT_EXEC, 0}}, "malloc, thread stacks");
  t.Answer(EACCES, {SYS_mprotect}, "no new executable memory");
  t.Allow({SYS_rt_sigprocmask, SYS_restart_syscall}, "signals to itself");
  t.AllowIf(SYS_tgkill, {{2, kInt, SIGABRT}}, "abort()");
  t.Answer(EPERM, {SYS_tgkill, SYS_tkill}, "no signals but abort()");
  t.Allow({SYS_exit, SYS_exit_group}, "to end");
  t.Allow({SYS_getpid, SYS_gettid, SYS_getppid},
          "returns only facts about the process");
  // Negative clock ids mean the CPU time of another process or a descriptor.
  t.AllowIf(SYS_clock_gettime, {{0, 0x80000000, 0}}, "where the vDSO cannot");
  t.AllowIf(SYS_clock_getres, {{0, 0x80000000, 0}}, "where the vDSO cannot");
  t.Allow({SYS_gettimeofday, SYS_time}, "where the vDSO cannot");
  t.Allow({SYS_nanosleep, SYS_sched_yield}, "short waits");
  t.AllowIf(SYS_clock_nanosleep, {{0, 0x80000000, 0}}, "short waits");
  t.Allow({SYS_read, SYS_readv, SYS_write, SYS_writev, SYS_close},
          "descriptors it was given, such as the log");
  t.Allow({SYS_poll, SYS_ppoll}, "to wait on them");
  t.Allow({SYS_recvmsg}, "its socket to bulkheadd or the host");
  t.AllowIf(SYS_sendto, {{4, kLong, 0}}, "send() on that socket");
  t.Allow({SYS_fstat}, "returns only facts about an open descriptor");
  t.Allow({SYS_getrandom}, "hash seeds");
  t.Answer(ENOTTY, {SYS_ioctl}, "stdio asks whether it is a terminal");
  t.Answer(EACCES, {SYS_openat, SYS_open, SYS_newfstatat, SYS_stat, SYS_lstat},
           "messages, time zones and character sets are looked for");
  return std::move(t).Build();
}

// Returns the rules for granted ioctls. They must come before a table's own
// rules, which answer every other ioctl with an errno.
Table Ioctls(const GrantedCalls& granted) {
  TableBuilder t;
  for (const uint8_t type : granted.ioctl_types) {
    t.AllowIf(SYS_ioctl, {{1, kIoctlType, static_cast<uint64_t>(type) << 8}},
              "granted");
  }
  return std::move(t).Build();
}

// Returns the rules that answer attempts to find files.
Table FileProbes() {
  TableBuilder t;
  t.Answer(EACCES,
           {SYS_statx, SYS_access, SYS_faccessat, SYS_faccessat2, SYS_readlink,
            SYS_readlinkat, SYS_getdents64, SYS_statfs, SYS_fstatfs, SYS_getcwd,
            SYS_openat2},
           "libraries look for files and do without");
  return std::move(t).Build();
}

// Returns the rules for signal handlers. They must come before a table's own
// rules for these calls.
Table SignalHandlers() {
  TableBuilder t;
  t.Allow({SYS_rt_sigaction, SYS_rt_sigreturn, SYS_sigaltstack},
          "handlers of its own signals");
  return std::move(t).Build();
}

}  // namespace

Table ReaperTable() {
  TableBuilder t;
  t.Allow({SYS_waitid}, "reaps");
  t.Allow({SYS_pidfd_open}, "what it sends to bulkheadd");
  t.AllowIf(SYS_kill, {{1, kInt, SIGKILL}}, "ends workers");
  t.AllowIf(SYS_fcntl, {{1, kInt, F_GETFD}}, "checks a descriptor");
  t.Allow({SYS_sendmsg}, "sends pidfds to bulkheadd");
  t.Append(SignalHandlers());
  t.Allow({SYS_set_robust_list}, "glibc");
  t.AllowIf(SYS_mmap, {{2, PROT_EXEC, 0}}, "malloc");
  t.Answer(EACCES, {SYS_mmap}, "no new executable memory");
  t.Append(Base());
  return std::move(t).Build();
}

Table SessionTable() {
  TableBuilder t;
  t.Append(UncountedMappings());
  constexpr uint64_t kAnonymous = MAP_ANONYMOUS;
  t.AllowIf(SYS_mmap, {{2, PROT_EXEC, 0}, {3, kAnonymous, kAnonymous}},
            "malloc");
  for (int i = 0; i < ipc::kWorkerMemoryCount; ++i) {
    const auto number = static_cast<uint64_t>(ipc::kWorkerMemoryFd + i);
    t.AllowIf(SYS_mmap, {{2, PROT_EXEC, 0}, {4, kInt, number}},
              "shared rings and frames");
  }
  t.Answer(EACCES, {SYS_mmap}, "no new executable memory, and no media");
  // One such call can move several mappings, and the filter of file_mappings.h
  // compares only the first one's address.
  t.AnswerIf(EPERM, SYS_mremap, {{3, MREMAP_FIXED, MREMAP_FIXED}},
             "pages of files stay where they are");
  // The descriptors 0 to 3 cannot be closed. If one of these numbers were free,
  // descriptors that arrive later would get lower numbers, and the media a
  // number that may be mapped.
  t.AnswerIf(EBADF, SYS_close, {{0, kInt - ipc::kWorkerSocketFd, 0}},
             "the standard ones and the socket stay, see mmap");
  t.AnswerIf(EPERM, SYS_recvmsg, {{2, MSG_PEEK, MSG_PEEK}},
             "a message brings its descriptors once");
  // The kernel logs the bytes around a fault that no handler takes, for
  // everybody who may read its log. So the process cannot replace the handlers
  // that stage 2 installs, which end the process. No rule allows rt_sigreturn:
  // these handlers never return, and if it were called outside of a handler,
  // the kernel would log registers.
  t.AllowIf(SYS_rt_sigaction, {{1, kLong, 0}}, "asks for a handler");
  t.AllowIf(SYS_sigaltstack, {{0, kLong, 0}}, "asks for the signal stack");
  t.Answer(EPERM, {SYS_rt_sigaction, SYS_sigaltstack},
           "faults are not logged by the kernel; SIGABRT has no handler");
  // Everybody can read which signals a thread blocks and which blocked signals
  // are pending. pthread_create() and abort() work without blocking signals.
  t.AllowIf(SYS_rt_sigprocmask, {{1, kLong, 0}}, "asks what is blocked");
  t.AllowIf(SYS_ppoll, {{3, kLong, 0}}, "to wait on descriptors");
  t.Answer(EPERM, {SYS_rt_sigprocmask, SYS_ppoll},
           "everybody can read which signals are blocked");
  t.AllowIf(SYS_clone, {{0, kLong, kThreadFlags}}, "pthread_create");
  t.Answer(EPERM, {SYS_clone, SYS_fork, SYS_vfork}, "no processes");
  t.Answer(ENOSYS, {SYS_clone3}, "a filter cannot see its flags; use clone");
  t.Allow({SYS_rseq}, "glibc, in each new thread");
  // Both calls name an address at which the kernel wakes waiters when the
  // thread ends, which could be in a page of a file. clone() names one too, but
  // the filter of file_mappings.h keeps that one from files.
  t.Answer(EPERM, {SYS_set_robust_list, SYS_set_tid_address},
           "glibc, in each new thread, which does without");
  t.Allow({SYS_membarrier}, "lock-free libraries");
  t.AnswerIf(EPERM, SYS_prctl, {{0, kInt, PR_SET_NAME}},
             "everybody can read the names of threads");
  t.AllowIf(SYS_prctl, {{0, kInt, PR_GET_SPECULATION_CTRL}},
            "returns only facts about the process");
  t.AllowIf(SYS_prctl, {{0, kInt, PR_SET_DUMPABLE}, {1, kLong, 0}},
            "the end of stage 2");
  t.Answer(EPERM, {SYS_prctl}, "the rest undoes lock-downs");
  t.Allow({SYS_sched_getaffinity, SYS_getcpu}, "how many threads to start");
  t.Allow({SYS_sched_getparam, SYS_sched_getscheduler,
           SYS_sched_get_priority_max, SYS_sched_get_priority_min},
          "thread pools ask before they set");
  t.Answer(EPERM,
           {SYS_sched_setaffinity, SYS_sched_setscheduler, SYS_sched_setparam,
            SYS_sched_setattr, SYS_setpriority, SYS_ioprio_set},
           "thread pools try and do without");
  t.Answer(EPERM, {SYS_get_mempolicy, SYS_set_mempolicy, SYS_mbind},
           "x265 asks libnuma");
  t.Answer(EPERM, {SYS_mlock, SYS_munlock}, "no locked memory");
  t.Allow({SYS_pread64, SYS_lseek}, "the media, a descriptor");
  // F_SETFL is not allowed: the eventfd of a health check is shared with
  // bulkheadd, which would block if the worker removed its O_NONBLOCK.
  for (const int command : {F_GETFD, F_SETFD, F_GETFL, F_GET_SEALS}) {
    t.AllowIf(SYS_fcntl, {{1, kInt, static_cast<uint64_t>(command)}},
              "flags of open descriptors");
  }
  t.Answer(EPERM, {SYS_dup}, "the media keeps its number, see mmap");
  t.Answer(EPERM, {SYS_fcntl},
           "locks and signal owners reach others; as for dup");
  // The kernel limits the descriptors in flight of each user. A session could
  // use up the limit, so that no process of that user could send another.
  t.Answer(EPERM, {SYS_sendmsg}, "no descriptors in flight");
  t.AllowIf(SYS_sendto, {{4, kLong, 0}}, "send() on the session's socket");
  t.Answer(EPERM, {SYS_sendto}, "names no address");
  t.Answer(EPERM, {SYS_recvfrom, SYS_getsockopt, SYS_preadv, SYS_fadvise64},
           "no decoder that was traced makes them");
  t.Answer(EPERM, {SYS_socket, SYS_socketpair}, "no new sockets");
  t.Answer(EPERM, {SYS_eventfd2, SYS_epoll_create1, SYS_pipe2},
           "no new kernel objects");
  t.Answer(EPERM, {SYS_memfd_create},
           "a memfd could be filled and mapped as code");
  t.Answer(EPERM, {SYS_kill}, "no signals to others");
  t.Allow({SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getrusage},
          "returns only facts about the process");
  t.Allow({SYS_getrlimit}, "returns only facts about the process");
  t.AllowIf(SYS_prlimit64, {{0, kInt, 0}, {2, kLong, 0}},
            "glibc asks for the size of stacks");
  t.Answer(EPERM, {SYS_prlimit64, SYS_setrlimit}, "limits stay");
  t.Answer(EPERM, {SYS_uname, SYS_sysinfo}, "glibc and libraries ask");
  t.Append(Base());
  t.Append(FileProbes());
  return std::move(t).Build();
}

Table ZygoteTable() {
  TableBuilder t;
  t.Append(UncountedMappings());
  // These rules come before the session's rules, all of which follow. The
  // kernel applies the strictest filter, so a call that stage 2 allows or
  // answers must not end the process here.
  t.Append(SignalHandlers());
  t.Allow({SYS_rt_sigprocmask, SYS_ppoll}, "signals to itself");
  t.Allow({SYS_mremap, SYS_close}, "malloc, descriptors");
  t.Allow({SYS_set_robust_list}, "glibc");
  t.Answer(EPERM, {SYS_set_tid_address},
           "the end of a worker wakes nobody who waits on a page of a file");
  t.Allow({SYS_dup}, "descriptors");
  for (const uint64_t advice : {MADV_FREE, MADV_COLD, MADV_PAGEOUT}) {
    t.AllowIf(SYS_madvise, {{2, kInt, advice}}, "malloc");
  }
  for (const uint64_t command : {F_DUPFD, F_DUPFD_CLOEXEC}) {
    t.AllowIf(SYS_fcntl, {{1, kInt, command}}, "descriptors");
  }
  t.AllowIf(SYS_prctl, {{0, kInt, PR_SET_NAME}}, "names of threads");
  t.AskIf(SYS_clone, {{0, kLong & ~kTidFlags, kWorkerFlags}},
          "a session worker, if bulkheadd has asked for one");
  constexpr uint64_t kWriting = O_ACCMODE | kCreating;
  t.AllowIf(SYS_openat, {{2, kWriting, O_RDONLY}}, "the dynamic linker");
  t.AllowIf(SYS_open, {{1, kWriting, O_RDONLY}}, "the dynamic linker");
  t.Allow({SYS_newfstatat, SYS_stat, SYS_lstat, SYS_statx, SYS_access,
           SYS_faccessat, SYS_faccessat2, SYS_readlink, SYS_readlinkat,
           SYS_getdents64, SYS_statfs, SYS_fstatfs, SYS_getcwd},
          "a plugin finds its own files");
  t.AnswerIf(EACCES, SYS_mmap,
             {{2, PROT_WRITE | PROT_EXEC, PROT_WRITE | PROT_EXEC}},
             "code is not writable");
  t.Allow({SYS_mmap}, "code of the plugin");
  t.AnswerIf(EACCES, SYS_mprotect,
             {{2, PROT_WRITE | PROT_EXEC, PROT_WRITE | PROT_EXEC}},
             "code is not writable");
  t.Allow({SYS_mprotect}, "relocations");
  t.Allow({SYS_uname, SYS_sysinfo}, "constructors of libraries");
  t.Allow({SYS_dup2, SYS_dup3, SYS_close_range}, "the worker's descriptors");
  t.AskIf(SYS_seccomp,
          {{0, kInt, SECCOMP_SET_MODE_FILTER},
           {1, kLong, SECCOMP_FILTER_FLAG_TSYNC}},
          "the filters of a lock-down, and no others");
  t.AskIf(SYS_landlock_create_ruleset, {{2, kInt, 0}},
          "stage 2, once; rulesets cost memory of the kernel");
  t.AskIf(SYS_landlock_restrict_self, {{1, kInt, 0}}, "stage 2, once");
  t.Allow({SYS_sendmsg},
          "sends this filter's listener; forbidden by a further filter before "
          "vendor code is loaded");
  t.AllowIf(SYS_prctl, {{0, kInt, PR_SET_PDEATHSIG}, {1, kLong, SIGKILL}},
            "a worker ends with its reaper");
  t.AllowIf(SYS_prlimit64, {{0, kInt, 0}, {1, kInt, RLIMIT_NPROC}},
            "stage 2 lowers it; without privileges nobody raises it");
  for (const uint64_t limit : {RLIMIT_DATA, RLIMIT_AS}) {
    t.AllowIf(SYS_prlimit64, {{0, kInt, 0}, {1, kInt, limit}},
              "a session's worker lowers it; nobody raises it");
  }
  t.AllowIf(SYS_prctl, {{0, kInt, PR_SET_NO_NEW_PRIVS}},
            "stage 2; cannot be undone");
  t.Append(SessionTable());
  return std::move(t).Build();
}

Table ZygoteTableWith(const GrantedCalls& granted) {
  TableBuilder t;
  t.Append(Ioctls(granted));
  if (granted.devices) {
    t.AllowIf(SYS_openat, {{2, kCreating, 0}}, "granted devices");
    t.AllowIf(SYS_open, {{1, kCreating, 0}}, "granted devices");
  }
  t.Append(ZygoteTable());
  return std::move(t).Build();
}

Table SessionTableWith(const GrantedCalls& granted) {
  TableBuilder t;
  t.Append(Ioctls(granted));
  if (granted.devices || !granted.fixed_descriptors) {
    t.Append(UncountedMappings());
    t.AllowIf(SYS_mmap, {{2, PROT_EXEC, 0}}, "memory of devices");
    t.Allow({SYS_close}, "its descriptors may have any number");
  }
  if (granted.devices) t.Allow({SYS_dup}, "a second owner for a device");
  t.Append(SessionTable());
  return std::move(t).Build();
}

bool IsAsked(int syscall, std::span<const uint64_t, 6> arguments) {
  static const Table table = ZygoteTable();  // made once, not for each call
  const auto decides = [&](const Rule& rule) {
    return rule.syscall == syscall &&
           std::ranges::all_of(rule.when, [&](const Condition& condition) {
             return (arguments[condition.argument] & condition.mask) ==
                    condition.value;
           });
  };
  const auto rule = std::ranges::find_if(table, decides);
  return rule != table.end() && rule->asks;
}

}  // namespace bulkhead::sandbox
