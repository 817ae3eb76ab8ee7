// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/probe.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "core/sandbox/landlock.h"
#include "ipc/deadline.h"

namespace bulkhead::sandbox {
namespace {

ipc::Deadline Soon() {
  return ipc::Deadline::After(std::chrono::milliseconds(10'000));
}

void Print(const SandboxReport& report) {
  std::printf("tier %s, Landlock ABI %u, own uid: %s\n", TierName(report.tier),
              report.landlock_abi, report.own_uid ? "yes" : "no");
  for (const auto& reason : report.reasons) {
    std::printf("  %s\n", reason.c_str());
  }
}

TEST(ProbeSandboxTest, GivesAReasonForWhateverIsMissing) {
  const SandboxReport report = ProbeSandbox(Soon());
  Print(report);
  EXPECT_EQ(report.landlock_abi, LandlockAbi());
  if (report.tier != Tier::kFull || !report.own_uid) {
    EXPECT_FALSE(report.reasons.empty());
  }
  if (geteuid() != 0) {
    EXPECT_FALSE(report.own_uid);
  }
}

TEST(ProbeSandboxTest, ReportsLessThanFullWhereNamespacesAreForbidden) {
  const pid_t pid = fork();
  if (pid == 0) {
    // Without further processes, nothing can be probed at all.
    const rlimit none = {0, 0};
    if (setresuid(65534, 65534, 65534) != 0) _exit(0);
    setrlimit(RLIMIT_NPROC, &none);
    const SandboxReport report = ProbeSandbox(Soon());
    _exit(report.tier == Tier::kNone && report.reasons.size() >= 2 ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace bulkhead::sandbox
