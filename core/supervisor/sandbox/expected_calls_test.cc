// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/expected_calls.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

#include "core/supervisor/sandbox/bpf.h"
#include "ipc/lockdown_filters.h"

namespace bulkhead::sandbox {
namespace {

using Filter = std::vector<sock_filter>;

constexpr pid_t kZygote = 2;
constexpr pid_t kWorker = 3;

// Makes calls as processes of a backend do. The filters that they pass lie in
// the memory of this process.
class ExpectedCallsTest : public testing::Test {
 protected:
  bool Clones(pid_t process) {
    return calls_.Approves(Call(process, SYS_clone));
  }
  bool Installs(pid_t process, Filter filter, int threads = 1) {
    const sock_fprog program = {
        .len = static_cast<unsigned short>(filter.size()),
        .filter = filter.data()};
    PendingCall call = Call(process, SYS_seccomp);
    call.threads = threads;
    call.arguments[2] = reinterpret_cast<uint64_t>(&program);
    return calls_.Approves(call);
  }
  // Brings a worker to its last filter.
  void CloneAWorker() {
    ASSERT_TRUE(Installs(kZygote, ipc::NoDescriptorsAreSent()));
    calls_.ExpectClone();
    ASSERT_TRUE(Clones(kZygote));
    calls_.CloneAnswered();
    ASSERT_TRUE(Installs(kWorker, ipc::OnlyItselfMayBeSignaled(kWorker)));
  }

  static PendingCall Call(pid_t process, int number) {
    return {.process = process,
            .thread = gettid(),
            .threads = 1,
            .number = number,
            .architecture = AUDIT_ARCH_X86_64};
  }

  const Filter stage2_ = SessionFilter(Forbidden::kNotify);
  ExpectedCalls calls_{stage2_, /*reads_memory=*/true};
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
  EXPECT_FALSE(calls_.Approves(Call(kWorker, SYS_seccomp)));
}

TEST_F(ExpectedCallsTest, WithoutMemoryTheNumberOfFiltersIsBounded) {
  ExpectedCalls calls(stage2_, /*reads_memory=*/false);
  for (const auto& [process, filters] : {std::pair(kZygote, 1), {kWorker, 2}}) {
    for (int i = 0; i < filters; ++i) {
      EXPECT_TRUE(calls.Approves(Call(process, SYS_seccomp)));
    }
    EXPECT_FALSE(calls.Approves(Call(process, SYS_seccomp)));
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
  EXPECT_FALSE(calls_.Approves(foreign));
  EXPECT_FALSE(calls_.Approves(Call(0, SYS_clone)));
  for (const int number : {SYS_ptrace, SYS_fork, SYS_clone3, SYS_execve}) {
    EXPECT_FALSE(calls_.Approves(Call(kZygote, number)));
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
