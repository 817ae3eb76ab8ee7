// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/expected_calls.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/testing/no_descriptor_left.h"
#include "ipc/lockdown_filters.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {
namespace {

using Filter = std::vector<sock_filter>;
using Decision = ExpectedCalls::Decision;

constexpr pid_t kZygote = 2;
constexpr pid_t kWorker = 3;

// A copy of this process that has the descriptors of a worker, and waits.
class Caller {
 public:
  // `kept` is a descriptor that it has besides.
  explicit Caller(int kept = -1, void* robust_list = nullptr) : pid_(fork()) {
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
      const int null = open("/dev/null", O_RDWR);
      int sockets[2];
      if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) _exit(1);
      dup2(null, 0);
      dup2(null, 1);
      dup2(sockets[0], 2);
      if (kept > 2) dup2(kept, 3);
      close_range(kept > 2 ? 4 : 3, ~0U, 0);
      syscall(SYS_set_robust_list, robust_list, 3 * sizeof(void*));
      raise(SIGSTOP);
      _exit(1);
    }
    int status = 0;
    waitpid(pid_, &status, WUNTRACED);
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  ~Caller() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  pid_t pid() const { return pid_; }

 private:
  const pid_t pid_;
};

// Makes calls as processes of a backend do. The filters that they pass lie in
// the memory of a copy of this process.
class ExpectedCallsTest : public testing::Test {
 protected:
  bool Clones(pid_t process) { return Approves(Call(process, SYS_clone)); }
  bool Installs(pid_t process, Filter filter, int threads = 1, int kept = -1) {
    return Installs(calls_, process, std::move(filter), threads, kept);
  }
  // Brings a worker to its last filter.
  void CloneAWorker() {
    ASSERT_TRUE(Installs(kZygote, ipc::NoDescriptorsAreSent()));
    calls_.ExpectClone();
    ASSERT_TRUE(Clones(kZygote));
    calls_.CloneAnswered();
    ASSERT_TRUE(Installs(kWorker, ipc::OnlyItselfMayBeSignaled(kWorker)));
  }

  // Brings a worker that keeps a descriptor from its clone to stage 2.
  bool EntersStage2(ExpectedCalls& calls, int kept) {
    return Installs(calls, kZygote, ipc::NoDescriptorsAreSent()) &&
           Installs(calls, kWorker, ipc::OnlyItselfMayBeSignaled(kWorker)) &&
           Installs(calls, kWorker, stage2_, 1, kept);
  }

  // Returns whether `process` may install `filter`, when it has that many
  // threads and keeps a descriptor besides its own.
  bool Installs(ExpectedCalls& calls, pid_t process, Filter filter,
                int threads = 1, int kept = -1) {
    return Decide(calls, process, std::move(filter), threads, kept) !=
           Decision::kRefuse;
  }
  Decision Decide(ExpectedCalls& calls, pid_t process, Filter filter,
                  int threads, int kept) {
    filter.reserve(ipc::kRoomForFilter);
    sock_fprog program = {.len = static_cast<unsigned short>(filter.size()),
                          .filter = filter.data()};
    sock_fprog* where = &program;
    if (header_in_program_) {
      // Behind the part that is compared, and within what is written.
      where = reinterpret_cast<sock_fprog*>(filter.data() + filter.size());
      *where = program;
    }
    const Caller caller(kept, robust_list_);
    PendingCall call = Call(process, SYS_seccomp);
    call.thread = caller.pid();
    call.threads = threads;
    call.arguments[1] = flags_;
    call.arguments[2] = reinterpret_cast<uint64_t>(where);
    std::optional<NoDescriptorLeft> starved;
    if (starved_) starved.emplace();
    return calls.Decide(call);
  }

  bool Approves(const PendingCall& call) {
    return calls_.Decide(call) != Decision::kRefuse;
  }

  // Returns a call with the arguments that the lock-down passes.
  static PendingCall Call(pid_t process, int number) {
    PendingCall call = {.process = process,
                        .thread = gettid(),
                        .threads = 1,
                        .id = 7,
                        .number = number,
                        .architecture = AUDIT_ARCH_X86_64};
    if (number == SYS_seccomp) {
      call.arguments[0] = SECCOMP_SET_MODE_FILTER;
      call.arguments[1] = SECCOMP_FILTER_FLAG_TSYNC;
    } else if (number == SYS_clone) {
      call.arguments[0] = CLONE_PARENT | SIGCHLD | CLONE_CHILD_SETTID;
    } else if (number == SYS_landlock_create_ruleset) {
      call.arguments[0] = reinterpret_cast<uint64_t>(kHandled.data());
      call.arguments[1] = sizeof(kHandled);
    } else if (number == SYS_landlock_restrict_self) {
      call.arguments[0] = static_cast<uint64_t>(Ruleset());
    }
    return call;
  }
  // Returns a Landlock ruleset, or -1 if the kernel makes none.
  static int Ruleset() {
    static const ipc::UniqueFd ruleset(static_cast<int>(
        syscall(SYS_landlock_create_ruleset, kHandled.data(), 8, 0)));
    return ruleset.get();
  }
  static ExpectedCalls::WorkerDescriptors Descriptors() {
    return {.socket = ipc::UniqueFd(dup(0)),
            .log = ipc::UniqueFd(dup(0)),
            .silence = ipc::UniqueFd(dup(0))};
  }

  static constexpr std::array<uint64_t, 3> kHandled = {1, 0, 0};
  uint64_t flags_ = SECCOMP_FILTER_FLAG_TSYNC;  // of each seccomp()
  void* robust_list_ = nullptr;                 // of the caller
  bool header_in_program_ = false;  // where its filter is overwritten
  bool starved_ = false;            // whether each seccomp() is decided on so
  const Filter stage2_ = SessionFilter(Forbidden::kNotify);
  const ExpectedCalls::SessionLockdown without_landlock_{
      .filter = stage2_, .handled = std::nullopt, .devices = {}};
  HeldParts parts_;
  ExpectedCalls calls_{without_landlock_, /*reads_memory=*/true, parts_};
};

TEST_F(ExpectedCallsTest, ZygoteInstallsItsFilterOnce) {
  EXPECT_TRUE(Installs(kZygote, ipc::NoDescriptorsAreSent()));
  EXPECT_FALSE(Installs(kZygote, ipc::NoDescriptorsAreSent()));
  EXPECT_FALSE(Installs(kZygote, stage2_));
}

TEST_F(ExpectedCallsTest, WorkerInstallsStage2) {
  CloneAWorker();
  EXPECT_TRUE(Installs(kWorker, stage2_));
  EXPECT_FALSE(Installs(kWorker, stage2_));
}

TEST_F(ExpectedCallsTest, WorkerThatKeepsADescriptorGetsNoSocket) {
  CloneAWorker();
  const ipc::UniqueFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(Installs(kWorker, stage2_, 1, file.get()));
  EXPECT_FALSE(calls_.TakeReady(kWorker));
}

TEST_F(ExpectedCallsTest, WorkerWhoseDescriptorsCannotBeListedGetsNoSocket) {
  CloneAWorker();
  calls_.Give(kWorker, Descriptors());
  const ipc::UniqueFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  starved_ = true;
  EXPECT_EQ(Decide(calls_, kWorker, stage2_, 1, file.get()),
            Decision::kCannotTell);
  EXPECT_FALSE(calls_.TakeReady(kWorker));
}

TEST_F(ExpectedCallsTest, WorkerMayHaveAGrantedDevice) {
  const ipc::UniqueFd device(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(EntersStage2(calls_, device.get()));
  struct stat node = {};
  ASSERT_EQ(fstat(device.get(), &node), 0);
  ExpectedCalls granted({stage2_, std::nullopt, {node.st_rdev}}, true, parts_);
  EXPECT_TRUE(EntersStage2(granted, device.get()));
}

TEST_F(ExpectedCallsTest, WorkerGetsItsSocketWithTheLastFilter) {
  CloneAWorker();
  calls_.Give(kWorker, Descriptors());
  EXPECT_FALSE(calls_.TakeReady(kWorker));
  ASSERT_TRUE(Installs(kWorker, stage2_));
  const auto ready = calls_.TakeReady(kWorker);
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->id, 7u);
  EXPECT_TRUE(ready->descriptors.socket);
  EXPECT_TRUE(ready->descriptors.log);
  // The call was answered, so a second socket waits for nothing.
  calls_.Give(kWorker, Descriptors());
  EXPECT_FALSE(calls_.TakeReady(kWorker));
}

TEST_F(ExpectedCallsTest, WhatAWorkerMapsIsHeldWithItsLastFilter) {
  CloneAWorker();
  // A worker maps what this process maps.
  const auto mappings = FileMappings(getpid());
  ASSERT_TRUE(mappings);
  EXPECT_FALSE(calls_.held_files()
                   .Add(getpid(), *mappings, 0, HeldFiles::When::kFirst)
                   .ok());
  ASSERT_TRUE(Installs(kWorker, stage2_));
  const Status held =
      calls_.held_files().Add(getpid(), *mappings, 0, HeldFiles::When::kFirst);
  EXPECT_TRUE(held.ok()) << held;
}

TEST_F(ExpectedCallsTest, WorkerWaitsForItsSocket) {
  CloneAWorker();
  ASSERT_TRUE(Installs(kWorker, stage2_));
  EXPECT_FALSE(calls_.TakeReady(kWorker));
  calls_.Give(kWorker + 1, Descriptors());
  EXPECT_FALSE(calls_.TakeReady(kWorker));
  EXPECT_FALSE(calls_.TakeReady(kWorker + 1));
  calls_.Give(kWorker, Descriptors());
  EXPECT_TRUE(calls_.TakeReady(kWorker));
}

TEST_F(ExpectedCallsTest, WorkerHasNoRobustList) {
  CloneAWorker();
  robust_list_ = this;
  EXPECT_FALSE(Installs(kWorker, stage2_));
}

// The header is written last, into the program.
TEST_F(ExpectedCallsTest, AProgramIsNotWhereItsHeaderIs) {
  CloneAWorker();
  header_in_program_ = true;
  EXPECT_FALSE(Installs(kWorker, stage2_));
}

TEST_F(ExpectedCallsTest, WorkerEntersARulesetOnceAndTheZygoteNone) {
  if (Ruleset() < 0) GTEST_SKIP() << "the kernel has no Landlock";
  ExpectedCalls calls({stage2_, kHandled, {}}, true, parts_);
  const auto approves = [&](const PendingCall& call) {
    return calls.Decide(call) != Decision::kRefuse;
  };
  ASSERT_TRUE(Installs(calls, kZygote, ipc::NoDescriptorsAreSent()));
  EXPECT_FALSE(approves(Call(kWorker, SYS_landlock_restrict_self)));
  for (const int call :
       {SYS_landlock_create_ruleset, SYS_landlock_restrict_self}) {
    EXPECT_FALSE(approves(Call(kZygote, call)));
    EXPECT_TRUE(approves(Call(kWorker, call)));
    EXPECT_FALSE(approves(Call(kWorker, call)));
  }
  EXPECT_FALSE(approves(Call(kWorker, SYS_landlock_add_rule)));
}

TEST_F(ExpectedCallsTest, RulesetOfOthersIsRefused) {
  if (Ruleset() < 0) GTEST_SKIP() << "the kernel has no Landlock";
  ExpectedCalls calls({stage2_, kHandled, {}}, true, parts_);
  const auto approves = [&](const PendingCall& call) {
    return calls.Decide(call) != Decision::kRefuse;
  };
  ASSERT_TRUE(Installs(calls, kZygote, ipc::NoDescriptorsAreSent()));
  const std::array<uint64_t, 3> less = {};
  PendingCall make = Call(kWorker, SYS_landlock_create_ruleset);
  make.arguments[0] = reinterpret_cast<uint64_t>(less.data());
  EXPECT_FALSE(approves(make));
  make = Call(kWorker, SYS_landlock_create_ruleset);
  make.arguments[1] = 8;
  EXPECT_FALSE(approves(make));
  ASSERT_TRUE(approves(Call(kWorker, SYS_landlock_create_ruleset)));
  PendingCall enter = Call(kWorker, SYS_landlock_restrict_self);
  enter.arguments[0] = 0;
  EXPECT_FALSE(approves(enter));
  enter.arguments[0] = 4'000;
  EXPECT_FALSE(approves(enter));
  EXPECT_TRUE(approves(Call(kWorker, SYS_landlock_restrict_self)));
}

TEST_F(ExpectedCallsTest, WorkerWithoutItsRulesetGetsNoLastFilter) {
  if (Ruleset() < 0) GTEST_SKIP() << "the kernel has no Landlock";
  ExpectedCalls calls({stage2_, kHandled, {}}, true, parts_);
  EXPECT_FALSE(EntersStage2(calls, -1));
  calls.Forget(kWorker);
  for (const int call :
       {SYS_landlock_create_ruleset, SYS_landlock_restrict_self}) {
    ASSERT_NE(calls.Decide(Call(kWorker, call)), Decision::kRefuse);
  }
  EXPECT_TRUE(Installs(calls, kWorker, ipc::OnlyItselfMayBeSignaled(kWorker)));
  EXPECT_TRUE(Installs(calls, kWorker, stage2_));
}

// The kernel also reports such calls, as calls that no rule matches.
TEST_F(ExpectedCallsTest, OtherArgumentsAreRefused) {
  CloneAWorker();
  calls_.ExpectClone();
  PendingCall clone = Call(kZygote, SYS_clone);
  for (const uint64_t flag :
       {CLONE_VM, CLONE_FILES, CLONE_NEWUSER, CLONE_CHILD_CLEARTID}) {
    clone.arguments[0] = CLONE_PARENT | SIGCHLD | flag;
    EXPECT_FALSE(Approves(clone)) << flag;
  }
  EXPECT_TRUE(Clones(kZygote));
  for (const uint64_t flags :
       {0UL, SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG,
        SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW}) {
    flags_ = flags;
    EXPECT_FALSE(Installs(kWorker, stage2_)) << flags;
  }
  flags_ = SECCOMP_FILTER_FLAG_TSYNC;
  EXPECT_TRUE(Installs(kWorker, stage2_));
}

TEST_F(ExpectedCallsTest, FiltersOfOthersAreRefused) {
  CloneAWorker();
  const Filter logs = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG)};
  EXPECT_FALSE(Installs(kWorker, logs));
  Filter changed = stage2_;
  changed.back().k ^= 1;
  EXPECT_FALSE(Installs(kWorker, changed));
  changed = stage2_;
  changed.push_back(changed.back());
  EXPECT_FALSE(Installs(kWorker, changed));
  changed = stage2_;
  changed.pop_back();
  EXPECT_FALSE(Installs(kWorker, changed));
  EXPECT_FALSE(Installs(kWorker, {}));
  EXPECT_TRUE(Installs(kWorker, stage2_));
}

TEST_F(ExpectedCallsTest, FilterForAnotherProcessIsRefused) {
  ASSERT_TRUE(Installs(kZygote, ipc::NoDescriptorsAreSent()));
  EXPECT_FALSE(Installs(kWorker, ipc::OnlyItselfMayBeSignaled(kWorker + 1)));
  EXPECT_FALSE(Installs(kWorker, ipc::NoDescriptorsAreSent()));
}

// A second thread could change the filter after it was compared.
TEST_F(ExpectedCallsTest, ProcessWithThreadsInstallsNoFilter) {
  CloneAWorker();
  EXPECT_FALSE(Installs(kWorker, stage2_, 2));
}

TEST_F(ExpectedCallsTest, FilterThatCannotBeReadIsRefused) {
  CloneAWorker();
  EXPECT_FALSE(Approves(Call(kWorker, SYS_seccomp)));
}

TEST_F(ExpectedCallsTest, WithoutMemoryTheNumberOfFiltersIsBounded) {
  ExpectedCalls calls(without_landlock_, /*reads_memory=*/false, parts_);
  const auto approves = [&](const PendingCall& call) {
    return calls.Decide(call) != Decision::kRefuse;
  };
  for (const auto& [process, filters] : {std::pair(kZygote, 1), {kWorker, 2}}) {
    for (int i = 0; i < filters; ++i) {
      EXPECT_TRUE(approves(Call(process, SYS_seccomp)));
    }
    EXPECT_FALSE(approves(Call(process, SYS_seccomp)));
  }
}

TEST_F(ExpectedCallsTest, ZygoteClonesAsOftenAsItWasAsked) {
  ASSERT_TRUE(Installs(kZygote, ipc::NoDescriptorsAreSent()));
  EXPECT_FALSE(Clones(kZygote));
  calls_.ExpectClone();
  calls_.ExpectClone();
  EXPECT_TRUE(Clones(kZygote));
  EXPECT_TRUE(Clones(kZygote));
  EXPECT_FALSE(Clones(kZygote));
  EXPECT_EQ(calls_.clones_under_way(), 2u);
  calls_.CloneAnswered();
  EXPECT_FALSE(Clones(kZygote));
  calls_.CloneAnswered();
  EXPECT_EQ(calls_.clones_under_way(), 0u);
  EXPECT_FALSE(Clones(kZygote));
}

// A zygote that answers without having cloned keeps no right to clone later.
TEST_F(ExpectedCallsTest, AnswerWithoutACloneUsesTheRequestUp) {
  ASSERT_TRUE(Installs(kZygote, ipc::NoDescriptorsAreSent()));
  calls_.ExpectClone();
  calls_.CloneAnswered();
  EXPECT_FALSE(Clones(kZygote));
  calls_.CloneAnswered();
  calls_.ExpectClone();
  EXPECT_TRUE(Clones(kZygote));
}

TEST_F(ExpectedCallsTest, NobodyElseClones) {
  ASSERT_TRUE(Installs(kZygote, ipc::NoDescriptorsAreSent()));
  calls_.ExpectClone();
  EXPECT_FALSE(Clones(kWorker));
  EXPECT_TRUE(Clones(kZygote));
}

TEST_F(ExpectedCallsTest, PidIsUsedAgainByAnotherWorker) {
  CloneAWorker();
  ASSERT_TRUE(Installs(kWorker, stage2_));
  calls_.Forget(kWorker);
  EXPECT_TRUE(Installs(kWorker, ipc::OnlyItselfMayBeSignaled(kWorker)));
  EXPECT_TRUE(Installs(kWorker, stage2_));
}

TEST_F(ExpectedCallsTest, EverythingElseIsRefused) {
  ASSERT_TRUE(Installs(kZygote, ipc::NoDescriptorsAreSent()));
  calls_.ExpectClone();
  PendingCall foreign = Call(kZygote, SYS_clone);
  foreign.architecture = AUDIT_ARCH_I386;
  EXPECT_FALSE(Approves(foreign));
  EXPECT_FALSE(Approves(Call(0, SYS_clone)));
  for (const int number : {SYS_ptrace, SYS_fork, SYS_clone3, SYS_execve}) {
    EXPECT_FALSE(Approves(Call(kZygote, number)));
  }
}

TEST(CanReadMemoryTest, FindsWhatIsThere) {
  const uint64_t value = 0x0123456789abcdef;
  EXPECT_TRUE(CanReadMemory(getpid(), &value, value));
  EXPECT_FALSE(CanReadMemory(getpid(), &value, value + 1));
  EXPECT_FALSE(CanReadMemory(getpid(), nullptr, value));
}

}  // namespace
}  // namespace bulkhead::sandbox
