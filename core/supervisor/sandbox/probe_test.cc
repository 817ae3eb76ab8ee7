// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/probe.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/supervisor/sandbox/cgroup.h"
#include "core/supervisor/sandbox/landlock.h"
#include "ipc/deadline.h"
#include "ipc/testing/forked_child.h"

namespace bulkhead::sandbox {
namespace {

ipc::Deadline Soon() {
  return ipc::Deadline::After(std::chrono::milliseconds(60'000));
}

void Print(const SandboxReport& report) {
  std::printf("tier %s, Landlock ABI %u, own uid: %s\n", TierName(report.tier),
              report.landlock_abi, report.own_uid ? "yes" : "no");
  for (const SandboxGap& gap : report.gaps) {
    std::printf("  %s\n", gap.Sentence().c_str());
  }
}

TEST(ProbeSandboxTest, GivesAReasonForWhateverIsMissing) {
  const SandboxReport report = ProbeSandbox(Soon());
  Print(report);
  EXPECT_EQ(report.landlock_abi, LandlockAbi());
  if (report.tier != Tier::kFull || !report.own_uid) {
    EXPECT_FALSE(report.gaps.empty());
  }
  if (geteuid() != 0) {
    EXPECT_FALSE(report.own_uid);
  }
}

TEST(ProbeSandboxTest, ReportsLessThanFullWhereNamespacesAreForbidden) {
  ipc::ForkedChild child([] {
    // Without further processes, nothing can be probed at all.
    const rlimit none = {0, 0};
    if (setresuid(65534, 65534, 65534) != 0) return 0;
    setrlimit(RLIMIT_NPROC, &none);
    const SandboxReport report = ProbeSandbox(Soon());
    return report.tier == Tier::kNone && report.gaps.size() >= 2 ? 0 : 1;
  });
  EXPECT_EQ(child.Wait(), 0);
}

TEST(ProbeSandboxTest, DoesNotUseACgroupIntoWhichNothingCanBePut) {
  const std::string mount = FindCgroupParent("").mount;
  std::string made = mount + "/bulkhead-test-XXXXXX";
  if (mount.empty() || mkdtemp(made.data()) == nullptr ||
      chown(made.c_str(), 65534, 0) != 0) {
    GTEST_SKIP() << "this user cannot delegate a cgroup of version 2";
  }
  ipc::ForkedChild child([&] {
    // May make cgroups there, but not move itself out of root's.
    if (setresuid(65534, 65534, 65534) != 0) return 2;
    prctl(PR_SET_DUMPABLE, 1);
    const SandboxReport report = ProbeSandbox(Soon(), made);
    Print(report);
    std::fflush(stdout);
    if (report.tier == Tier::kNone) return 0;
    return report.cgroup.directory.empty() &&
                   report.cgroup.evidence.find("cgroup.procs") !=
                       std::string::npos
               ? 0
               : 1;
  });
  EXPECT_EQ(child.Wait(), 0);
  EXPECT_EQ(rmdir(made.c_str()), 0) << "the attempt was left there";
}

}  // namespace
}  // namespace bulkhead::sandbox
