// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/syscall_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
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
#include <array>

#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/testing/bpf_evaluator.h"
#include "ipc/descriptors.h"

namespace bulkhead::sandbox {
namespace {

using Arguments = std::array<uint64_t, 6>;

constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t kKill = SECCOMP_RET_KILL_PROCESS;
constexpr uint64_t kGarbage = 0xdead0000'00000000;
uint32_t Errno(int error) { return SECCOMP_RET_ERRNO | error; }

uint32_t Ask(const Table& table, int number, const Arguments& arguments) {
  seccomp_data call = {.nr = number, .arch = AUDIT_ARCH_X86_64};
  std::copy(arguments.begin(), arguments.end(), call.args);
  return EvaluateFilter(CompileFilter(table, Forbidden::kKill), call);
}

uint32_t Session(int number, const Arguments& arguments = {}) {
  return Ask(SessionTable(), number, arguments);
}

uint32_t Zygote(int number, const Arguments& arguments = {}) {
  return Ask(ZygoteTable(), number, arguments);
}

TEST(SyscallTablesTest, Stage1AllowsOrAnswersAllThatStage2Does) {
  const auto zygote = CompileFilter(ZygoteTable(), Forbidden::kKill);
  const auto session = CompileFilter(SessionTable(), Forbidden::kKill);
  std::vector<Arguments> samples = {{}, {1, 2, 3, 4, 5, 6}};
  samples.push_back({~0u, ~0u, ~0u, ~0u, ~0u, ~0u});
  const Table both = ZygoteTable();
  for (const Rule& rule : both) {
    Arguments matching = {};
    for (const Condition& c : rule.when) matching[c.argument] |= c.value;
    samples.push_back(matching);
  }
  for (int number = 0; number < 1024; ++number) {
    for (const Arguments& arguments : samples) {
      seccomp_data call = {.nr = number, .arch = AUDIT_ARCH_X86_64};
      std::copy(arguments.begin(), arguments.end(), call.args);
      const uint32_t inner = EvaluateFilter(session, call);
      const uint32_t outer = EvaluateFilter(zygote, call);
      if (inner != kKill) {
        EXPECT_NE(outer, kKill) << number;
      }
      if (inner == kAllow) {
        EXPECT_EQ(outer, kAllow) << number;
      }
    }
  }
}

TEST(SyscallTablesTest, GrantedIoctlsAreThoseOfTheirTypeAlone) {
  constexpr uint64_t kDrmVersion = 0xc0406400;
  constexpr uint64_t kTiocsti = 0x5412;
  for (const auto ask : {Session, Zygote}) {
    EXPECT_EQ(ask(SYS_ioctl, {3, kDrmVersion}), Errno(ENOTTY));
  }
  const GrantedCalls granted = {.ioctl_types = {'d', 'V'}};
  for (const Table& table :
       {ZygoteTableWith(granted), SessionTableWith(granted)}) {
    EXPECT_EQ(Ask(table, SYS_ioctl, {3, kDrmVersion}), kAllow);
    EXPECT_EQ(Ask(table, SYS_ioctl, {3, kGarbage | kDrmVersion}), kAllow);
    EXPECT_EQ(Ask(table, SYS_ioctl, {0, 'V' << 8 | 1}), kAllow);
    EXPECT_EQ(Ask(table, SYS_ioctl, {0, kTiocsti}), Errno(ENOTTY));
    EXPECT_EQ(Ask(table, SYS_ioctl, {0, kGarbage | kTiocsti}), Errno(ENOTTY));
    EXPECT_EQ(Ask(table, SYS_ioctl, {0, 'd'}), Errno(ENOTTY));
    EXPECT_EQ(Ask(table, SYS_ioctl, {0, 'd' << 16}), Errno(ENOTTY));
    EXPECT_EQ(Ask(table, SYS_openat, {0, 0, O_RDWR}), Errno(EACCES));
  }
}

TEST(SyscallTablesTest, GrantedDevicesAreOpenedBeforeMediaAndNothingIsMade) {
  const GrantedCalls granted = {.devices = true};
  const Table zygote = ZygoteTableWith(granted);
  for (const uint64_t flags : {O_RDONLY, O_RDWR, O_WRONLY}) {
    EXPECT_EQ(Ask(zygote, SYS_openat, {0, 0, flags | O_CLOEXEC}), kAllow);
    for (const uint64_t making : {O_CREAT, O_TRUNC, O_TMPFILE}) {
      EXPECT_EQ(Ask(zygote, SYS_openat, {0, 0, flags | making}), Errno(EACCES));
      EXPECT_EQ(Ask(zygote, SYS_open, {0, flags | making}), Errno(EACCES));
    }
    EXPECT_EQ(Ask(SessionTableWith(granted), SYS_openat, {0, 0, flags}),
              Errno(EACCES));
  }
}

TEST(SyscallTablesTest, OnlyThreadsAreCloned) {
  constexpr uint64_t kPthread = 0x3d0f00;
  EXPECT_EQ(Session(SYS_clone, {kPthread}), kAllow);
  EXPECT_EQ(Session(SYS_clone, {kPthread & ~CLONE_THREAD}), Errno(EPERM));
  EXPECT_EQ(Session(SYS_clone, {kPthread | CLONE_NEWUSER}), Errno(EPERM));
  EXPECT_EQ(Session(SYS_clone, {SIGCHLD}), Errno(EPERM));
  EXPECT_EQ(Session(SYS_clone3), Errno(ENOSYS));
  EXPECT_EQ(Session(SYS_fork), Errno(EPERM));

  EXPECT_EQ(Zygote(SYS_clone, {kPthread}), kAllow);
  EXPECT_EQ(Zygote(SYS_clone, {CLONE_PARENT | SIGCHLD}), kAllow);
  EXPECT_EQ(Zygote(SYS_clone, {CLONE_PARENT | CLONE_CHILD_SETTID | SIGCHLD}),
            kAllow);
  EXPECT_EQ(Zygote(SYS_clone, {SIGCHLD}), Errno(EPERM));
  EXPECT_EQ(Zygote(SYS_clone, {CLONE_PARENT | CLONE_NEWNET | SIGCHLD}),
            Errno(EPERM));
  // Its end would wake whoever waits on an address.
  EXPECT_EQ(Zygote(SYS_clone, {CLONE_PARENT | CLONE_CHILD_CLEARTID | SIGCHLD}),
            Errno(EPERM));
}

TEST(SyscallTablesTest, NoNewCodeInASession) {
  constexpr uint64_t kOwn = MAP_PRIVATE | MAP_ANONYMOUS;
  EXPECT_EQ(Session(SYS_mmap, {0, 4096, PROT_READ | PROT_WRITE, kOwn}), kAllow);
  EXPECT_EQ(Session(SYS_mmap, {0, 4096, PROT_READ | PROT_EXEC, kOwn}),
            Errno(EACCES));
  EXPECT_EQ(Session(SYS_mprotect, {0, 4096, kGarbage | PROT_EXEC}),
            Errno(EACCES));
  EXPECT_EQ(Session(SYS_pkey_mprotect), kKill);
  EXPECT_EQ(Session(SYS_shmat), kKill);
  EXPECT_EQ(Session(SYS_memfd_create), Errno(EPERM));
  EXPECT_EQ(Zygote(SYS_memfd_create), Errno(EPERM));
  EXPECT_EQ(Zygote(SYS_mmap, {0, 4096, PROT_READ | PROT_EXEC}), kAllow);
  EXPECT_EQ(Zygote(SYS_mmap, {0, 4096, PROT_WRITE | PROT_EXEC}), Errno(EACCES));
}

TEST(SyscallTablesTest, ProbesAreAnswered) {
  EXPECT_EQ(Session(SYS_openat), Errno(EACCES));
  EXPECT_EQ(Session(SYS_newfstatat), Errno(EACCES));
  EXPECT_EQ(Session(SYS_statx), Errno(EACCES));
  EXPECT_EQ(Session(SYS_readlink), Errno(EACCES));
  EXPECT_EQ(Session(SYS_ioctl), Errno(ENOTTY));
  EXPECT_EQ(Session(SYS_sysinfo), Errno(EPERM));
  EXPECT_EQ(Session(SYS_socket), Errno(EPERM));
}

TEST(SyscallTablesTest, ZygoteOpensOnlyToRead) {
  EXPECT_EQ(Zygote(SYS_openat, {0, 0, O_RDONLY | O_CLOEXEC}), kAllow);
  EXPECT_EQ(Zygote(SYS_openat, {0, 0, O_RDONLY | O_DIRECTORY}), kAllow);
  for (const uint64_t flags :
       {O_RDWR, O_WRONLY, O_RDONLY | O_CREAT, O_RDONLY | O_TRUNC, O_TMPFILE}) {
    EXPECT_EQ(Zygote(SYS_openat, {0, 0, flags}), Errno(EACCES)) << flags;
  }
}

TEST(SyscallTablesTest, CloneArrangesItsDescriptorsBeforeStage2) {
  EXPECT_EQ(Zygote(SYS_close_range, {3, 4}), kAllow);
  EXPECT_EQ(Zygote(SYS_dup3, {3, 4}), kAllow);
  EXPECT_EQ(Zygote(SYS_seccomp, {1, SECCOMP_FILTER_FLAG_TSYNC}), kAllow);
  EXPECT_EQ(Zygote(SYS_landlock_restrict_self), kAllow);
}

TEST(SyscallTablesTest, EscapeHatchesOfPrctlAreClosed) {
  EXPECT_EQ(Session(SYS_prctl, {kGarbage | PR_SET_NAME}), Errno(EPERM));
  EXPECT_EQ(Zygote(SYS_prctl, {kGarbage | PR_SET_NAME}), kAllow);
  EXPECT_EQ(Session(SYS_prctl, {PR_SET_DUMPABLE, 1}), Errno(EPERM));
  EXPECT_EQ(Session(SYS_prctl, {PR_SET_SPECULATION_CTRL}), Errno(EPERM));
  EXPECT_EQ(Zygote(SYS_prctl, {PR_SET_SPECULATION_CTRL}), Errno(EPERM));
  EXPECT_EQ(Session(SYS_prctl, {PR_SET_PDEATHSIG, 0}), Errno(EPERM));
  EXPECT_EQ(Zygote(SYS_prctl, {PR_SET_PDEATHSIG, 0}), Errno(EPERM));
  EXPECT_EQ(Zygote(SYS_prctl, {PR_SET_PDEATHSIG, SIGKILL}), kAllow);
  EXPECT_EQ(Zygote(SYS_prctl, {PR_SET_DUMPABLE, 1}), Errno(EPERM));
}

TEST(SyscallTablesTest, ASessionBlocksNoSignals) {
  constexpr uint64_t kSet = 0x7f0000000000;
  EXPECT_EQ(Session(SYS_rt_sigprocmask, {SIG_BLOCK, kSet}), Errno(EPERM));
  EXPECT_EQ(Session(SYS_rt_sigprocmask, {SIG_BLOCK, 0, kSet}), kAllow);
  EXPECT_EQ(Session(SYS_ppoll, {kSet, 1, 0, kSet}), Errno(EPERM));
  EXPECT_EQ(Session(SYS_ppoll, {kSet, 1, kSet, 0}), kAllow);
  EXPECT_EQ(Zygote(SYS_rt_sigprocmask, {SIG_BLOCK, kSet}), kAllow);
  EXPECT_EQ(Zygote(SYS_ppoll, {kSet, 1, 0, kSet}), kAllow);
}

TEST(SyscallTablesTest, ASessionMapsNoFileButItsMemory) {
  const auto map = [](uint64_t flags, uint64_t descriptor) {
    return Session(SYS_mmap, {0, 4096, PROT_READ, flags, descriptor, 0});
  };
  for (int i = 0; i < ipc::kWorkerMemoryCount; ++i) {
    const auto number = static_cast<uint64_t>(ipc::kWorkerMemoryFd + i);
    EXPECT_EQ(map(MAP_SHARED, number), kAllow);
    EXPECT_EQ(map(MAP_SHARED, kGarbage | number), kAllow);
  }
  EXPECT_EQ(map(MAP_PRIVATE | MAP_ANONYMOUS, ~uint64_t{0}), kAllow);
  const auto media =
      static_cast<uint64_t>(ipc::kWorkerMemoryFd + ipc::kWorkerMemoryCount);
  EXPECT_EQ(map(MAP_SHARED, media), Errno(EACCES));
  EXPECT_EQ(map(MAP_PRIVATE, media), Errno(EACCES));
  EXPECT_EQ(map(MAP_PRIVATE, kGarbage), Errno(EACCES));
  EXPECT_EQ(Session(SYS_dup, {media}), Errno(EPERM));
  EXPECT_EQ(Session(SYS_fcntl, {media, F_DUPFD, 4}), Errno(EPERM));
  EXPECT_EQ(Session(SYS_fcntl, {media, F_DUPFD_CLOEXEC, 4}), Errno(EPERM));
}

TEST(SyscallTablesTest, NumbersOfDescriptorsAreNotRearranged) {
  for (uint64_t fd = 0; fd <= ipc::kWorkerSocketFd; ++fd) {
    EXPECT_EQ(Session(SYS_close, {kGarbage | fd}), Errno(EBADF));
  }
  EXPECT_EQ(Session(SYS_close, {ipc::kWorkerMemoryFd}), kAllow);
  EXPECT_EQ(Session(SYS_recvmsg, {3, 0, MSG_DONTWAIT}), kAllow);
  EXPECT_EQ(Session(SYS_recvmsg, {3, 0, MSG_PEEK | MSG_DONTWAIT}),
            Errno(EPERM));
  EXPECT_EQ(Zygote(SYS_close, {3}), kAllow);
}

TEST(SyscallTablesTest, PagesOfFilesStayWhereTheyAre) {
  EXPECT_EQ(Session(SYS_mremap, {0, 1, 1, MREMAP_MAYMOVE}), kAllow);
  EXPECT_EQ(Session(SYS_mremap, {0, 1, 1, MREMAP_MAYMOVE | MREMAP_FIXED}),
            Errno(EPERM));
  EXPECT_EQ(Zygote(SYS_mremap, {0, 1, 1, MREMAP_MAYMOVE | MREMAP_FIXED}),
            kAllow);
}

TEST(SyscallTablesTest, TheKernelLogsNoOperandOfAFutex) {
  const auto wake_op = [](uint64_t operation) {
    return Session(SYS_futex,
                   {0, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 1, 1, 0, operation});
  };
  EXPECT_EQ(wake_op(0x40000fff), kAllow);
  EXPECT_EQ(wake_op(0xc0000fff), Errno(ENOSYS));
}

TEST(SyscallTablesTest, NoEndOfAThreadWakesOthers) {
  EXPECT_EQ(Session(SYS_set_robust_list, {0x7000, 24}), Errno(EPERM));
  EXPECT_EQ(Session(SYS_set_tid_address, {0x7000}), Errno(EPERM));
  EXPECT_EQ(Zygote(SYS_set_robust_list, {0x7000, 24}), kAllow);
  // A clone would inherit the address.
  EXPECT_EQ(Zygote(SYS_set_tid_address, {0x7000}), Errno(EPERM));
}

TEST(SyscallTablesTest, NoSessionChangesExactCountsOfTheMachine) {
  EXPECT_EQ(Session(SYS_madvise, {0x7000, 4096, MADV_FREE}), Errno(EINVAL));
  EXPECT_EQ(Zygote(SYS_madvise, {0x7000, 4096, MADV_FREE}), kAllow);
}

TEST(SyscallTablesTest, HandlersOfASessionStayAndDoNotReturn) {
  constexpr uint64_t kAction = 0x7000;  // the address of a new handler
  for (const uint64_t signal : {SIGABRT, SIGSEGV, SIGTRAP, SIGSYS, SIGUSR1}) {
    EXPECT_EQ(Session(SYS_rt_sigaction, {kGarbage | signal, kAction}),
              Errno(EPERM));
    EXPECT_EQ(Session(SYS_rt_sigaction, {signal, kGarbage}), Errno(EPERM));
    EXPECT_EQ(Session(SYS_rt_sigaction, {signal, 0}), kAllow);
    EXPECT_EQ(Zygote(SYS_rt_sigaction, {signal, kAction}), kAllow);
  }
  EXPECT_EQ(Session(SYS_sigaltstack, {kAction}), Errno(EPERM));
  EXPECT_EQ(Session(SYS_sigaltstack, {0, kAction}), kAllow);
  EXPECT_EQ(Zygote(SYS_sigaltstack), kAllow);
  EXPECT_EQ(Session(SYS_rt_sigreturn), kKill);
  EXPECT_EQ(Zygote(SYS_rt_sigreturn), kAllow);
}

TEST(SyscallTablesTest, SignalsReachNobodyElse) {
  EXPECT_EQ(Session(SYS_kill, {1, SIGKILL}), Errno(EPERM));
  EXPECT_EQ(Session(SYS_tgkill, {2, 2, SIGABRT}), kAllow);
  EXPECT_EQ(Session(SYS_tgkill, {2, 2, SIGKILL}), Errno(EPERM));
  // So raise(SIGSEGV) returns an error; vendors' environment.md says so.
  EXPECT_EQ(Session(SYS_tgkill, {2, 2, SIGSEGV}), Errno(EPERM));
  EXPECT_EQ(Zygote(SYS_tgkill, {2, 2, SIGSEGV}), Errno(EPERM));
  EXPECT_EQ(Session(SYS_rt_tgsigqueueinfo), kKill);
  EXPECT_EQ(Session(SYS_pidfd_send_signal), kKill);
  EXPECT_EQ(Ask(ReaperTable(), SYS_kill, {2, SIGKILL}), kAllow);
  EXPECT_EQ(Ask(ReaperTable(), SYS_kill, {2, SIGSTOP}), kKill);
}

TEST(SyscallTablesTest, WhatNoDecoderDoesKills) {
  for (const int number : {SYS_execve,
                           SYS_execveat,
                           SYS_ptrace,
                           SYS_process_vm_readv,
                           SYS_bpf,
                           SYS_unshare,
                           SYS_setns,
                           SYS_mount,
                           SYS_io_uring_setup,
                           SYS_connect,
                           SYS_bind,
                           SYS_userfaultfd,
                           SYS_perf_event_open,
                           SYS_keyctl,
                           SYS_pidfd_getfd,
                           SYS_personality,
                           SYS_chroot,
                           SYS_setsid,
                           SYS_setpgid,
                           SYS_setuid,
                           SYS_modify_ldt}) {
    EXPECT_EQ(Session(number), kKill) << number;
    EXPECT_EQ(Zygote(number), kKill) << number;
    EXPECT_EQ(Ask(ReaperTable(), number, {}), kKill) << number;
  }
  EXPECT_EQ(Session(SYS_seccomp, {1}), kKill);
  EXPECT_EQ(Zygote(SYS_seccomp, {1, SECCOMP_FILTER_FLAG_NEW_LISTENER}), kKill);
}

TEST(SyscallTablesTest, LimitsAreReadNotSet) {
  EXPECT_EQ(Session(SYS_prlimit64, {0, 3, 0, 1}), kAllow);
  EXPECT_EQ(Session(SYS_prlimit64, {0, 3, 1, 0}), Errno(EPERM));
  EXPECT_EQ(Session(SYS_prlimit64, {5, 3, 0, 1}), Errno(EPERM));
}

TEST(SyscallTablesTest, Stage2MayLowerTheTasksOfItsOwnProcessAlone) {
  EXPECT_EQ(Zygote(SYS_prlimit64, {0, RLIMIT_NPROC, 1, 0}), kAllow);
  EXPECT_EQ(Zygote(SYS_prlimit64, {5, RLIMIT_NPROC, 1, 0}), Errno(EPERM));
  EXPECT_EQ(Zygote(SYS_prlimit64, {0, RLIMIT_DATA, 1, 0}), kAllow);
  EXPECT_EQ(Zygote(SYS_prlimit64, {0, RLIMIT_NOFILE, 1, 0}), Errno(EPERM));
  EXPECT_EQ(Session(SYS_prlimit64, {0, RLIMIT_NPROC, 1, 0}), Errno(EPERM));
  EXPECT_EQ(Session(SYS_prlimit64, {0, RLIMIT_DATA, 1, 0}), Errno(EPERM));
}

}  // namespace
}  // namespace bulkhead::sandbox
