// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/gaps.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bulkhead::sandbox {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Step = NamespaceRefusal::Step;

// A machine that lacks nothing: a recent kernel, root, all of cgroup version 2.
MachineFacts Perfect() {
  MachineFacts facts;
  facts.kernel_release = "6.12.0-1-amd64";
  facts.executable = "/usr/lib/bulkhead/libexec/bulkheadd";
  facts.root = true;
  facts.system_administrator = true;
  facts.file_capabilities = true;
  facts.seccomp_filters = true;
  facts.most_user_namespaces = 100'000;
  facts.logs_faults = 0;
  facts.hides_processes = true;
  facts.security_modules = "lockdown,capability,landlock,yama,apparmor";
  facts.tier = Tier::kFull;
  facts.own_uid = true;
  facts.landlock_abi = 6;
  facts.forbidden = Forbidden::kNotify;
  facts.cgroup = {.directory = "/sys/fs/cgroup/bulkhead",
                  .controllers = {"memory", "pids", "cpu"},
                  .mount = "/sys/fs/cgroup",
                  .writable = false,
                  .evidence = ""};
  return facts;
}

void RefuseNamespaces(MachineFacts& facts, Step step, int error) {
  facts.tier = Tier::kReduced;
  facts.own_uid = false;
  facts.full_failure = "tier full failed";
  facts.refusal = {step, error};
}

void BeAnOrdinaryUser(MachineFacts& facts) {
  facts.root = false;
  facts.system_administrator = false;
  facts.own_uid = false;
}

// A machine in Docker, Podman or Kubernetes with their defaults, as root or
// not.
MachineFacts InContainer(const std::string& container) {
  MachineFacts facts = Perfect();
  facts.container = container;
  facts.system_administrator = false;
  facts.seccomp_mode = 2;
  facts.security_modules.reset();
  RefuseNamespaces(facts, Step::kUserNamespace, EPERM);
  facts.own_uid = true;
  facts.cgroup = {.directory = "",
                  .controllers = {},
                  .mount = "/sys/fs/cgroup",
                  .writable = false,
                  .evidence = "nothing is delegated"};
  return facts;
}

// Returns the gaps whose `missing` contains `what`.
std::vector<SandboxGap> GapsOf(const MachineFacts& facts,
                               const std::string& what) {
  std::vector<SandboxGap> found;
  for (SandboxGap& gap : ExplainGaps(facts)) {
    if (gap.missing.find(what) != std::string::npos) {
      found.push_back(std::move(gap));
    }
  }
  return found;
}

// Returns the only such gap.
SandboxGap GapOf(const MachineFacts& facts, const std::string& what) {
  const auto found = GapsOf(facts, what);
  EXPECT_EQ(found.size(), 1) << what;
  return found.empty() ? SandboxGap() : found[0];
}

TEST(GapsTest, NothingIsExplainedWhereNothingIsMissing) {
  EXPECT_THAT(ExplainGaps(Perfect()), IsEmpty());
}

TEST(GapsTest, UbuntuIsToldTheProfileForThisVeryProgram) {
  MachineFacts facts = Perfect();
  BeAnOrdinaryUser(facts);
  facts.kernel_release = "6.8.0-31-generic";
  facts.apparmor_restricts_user_namespaces = 1;
  RefuseNamespaces(facts, Step::kMount, EACCES);
  const SandboxGap gap = GapOf(facts, "tier full");
  EXPECT_THAT(gap.evidence, HasSubstr("tier full failed"));
  EXPECT_THAT(gap.evidence,
              HasSubstr("kernel.apparmor_restrict_unprivileged_userns is 1"));
  EXPECT_THAT(gap.remedy,
              HasSubstr("profile bulkheadd /usr/lib/bulkhead/libexec/bulkheadd "
                        "flags=(unconfined) {\n    userns,\n"));
  EXPECT_THAT(gap.remedy, HasSubstr("apparmor_parser -r"));
  EXPECT_THAT(
      gap.remedy,
      HasSubstr("sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"));
  EXPECT_THAT(gap.cost, HasSubstr("BULKHEAD_SANDBOX_FLOOR=reduced"));
}

TEST(GapsTest, UbuntusSwitchIsNoCauseForOneWhoHasThePrivileges) {
  MachineFacts facts = Perfect();
  facts.apparmor_restricts_user_namespaces = 1;
  RefuseNamespaces(facts, Step::kMount, EACCES);
  EXPECT_THAT(GapOf(facts, "tier full").evidence, Not(HasSubstr("Ubuntu")));
}

TEST(GapsTest, OldDebianIsToldItsSwitch) {
  MachineFacts facts = Perfect();
  BeAnOrdinaryUser(facts);
  facts.kernel_release = "5.15.0-custom";
  facts.unprivileged_user_namespaces = 0;
  RefuseNamespaces(facts, Step::kUserNamespace, EPERM);
  EXPECT_THAT(GapOf(facts, "tier full").remedy,
              HasSubstr("sysctl -w kernel.unprivileged_userns_clone=1"));
}

TEST(GapsTest, EveryCauseThatHoldsIsToldAndTheFailureOnce) {
  MachineFacts facts = Perfect();
  BeAnOrdinaryUser(facts);
  facts.unprivileged_user_namespaces = 0;
  facts.most_user_namespaces = 0;
  RefuseNamespaces(facts, Step::kUserNamespace, ENOSPC);
  const auto gaps = GapsOf(facts, "tier full");
  ASSERT_EQ(gaps.size(), 2);
  EXPECT_THAT(gaps[0].evidence, HasSubstr("tier full failed"));
  EXPECT_THAT(gaps[1].evidence, Not(HasSubstr("tier full failed")));
  EXPECT_THAT(gaps[1].remedy, HasSubstr("user.max_user_namespaces=15000"));
}

TEST(GapsTest, Rhel7IsToldThatItsKernelIsTooOld) {
  MachineFacts facts = Perfect();
  facts.kernel_release = "3.10.0-1160.el7.x86_64";
  facts.most_user_namespaces = 0;
  RefuseNamespaces(facts, Step::kUserNamespace, EINVAL);
  facts.tier = Tier::kNone;
  facts.landlock_abi = 0;
  facts.landlock_error = ENOSYS;
  const SandboxGap gap = GapOf(facts, "tier full");
  EXPECT_THAT(gap.evidence, HasSubstr("Linux 3.10.0-1160.el7.x86_64"));
  EXPECT_THAT(gap.remedy, HasSubstr("newer kernel"));
  EXPECT_THAT(gap.cost, HasSubstr("no backend is started"));
  EXPECT_THAT(GapOf(facts, "Landlock").evidence, HasSubstr("older than 5.13"));
}

TEST(GapsTest, DockerIsToldItsOptions) {
  const MachineFacts facts = InContainer("docker");
  const SandboxGap gap = GapOf(facts, "tier full");
  EXPECT_THAT(gap.evidence, HasSubstr("Seccomp: 2 in /proc/self/status"));
  EXPECT_THAT(gap.evidence, HasSubstr("clone() with a new user namespace"));
  EXPECT_THAT(gap.remedy, HasSubstr("docker run --security-opt seccomp=FILE "
                                    "--security-opt apparmor=unconfined"));
  EXPECT_THAT(
      gap.remedy,
      HasSubstr("of /usr/lib/bulkhead/libexec/container_seccomp.json\n"));
  EXPECT_THAT(gap.remedy, HasSubstr("pivot_root"));
  EXPECT_THAT(GapOf(facts, "cgroup").remedy, HasSubstr("BULKHEAD_CGROUP"));
}

TEST(GapsTest, PodmanIsToldItsOwn) {
  EXPECT_THAT(GapOf(InContainer("podman"), "tier full").remedy,
              HasSubstr("podman run --security-opt seccomp=FILE"));
}

TEST(GapsTest, KubernetesIsToldWhatToWriteIntoTheSpec) {
  const MachineFacts facts = InContainer("kubernetes");
  const std::string remedy = GapOf(facts, "tier full").remedy;
  EXPECT_THAT(remedy, HasSubstr("seccompProfile: {type: Localhost, "
                                "localhostProfile: bulkhead.json}"));
  EXPECT_THAT(
      remedy,
      HasSubstr("copy /usr/lib/bulkhead/libexec/container_seccomp.json to "
                "/var/lib/kubelet/seccomp/bulkhead.json"));
  EXPECT_THAT(GapOf(facts, "cgroup").remedy, HasSubstr("resources.limits"));
}

TEST(GapsTest, AFilterOutsideOfContainersIsSystemds) {
  MachineFacts facts = InContainer("");
  EXPECT_THAT(GapOf(facts, "tier full").remedy,
              HasSubstr("RestrictNamespaces=no"));
}

TEST(GapsTest, AFilterThatDoesNotRefuseIsNotBlamed) {
  MachineFacts facts = InContainer("docker");
  facts.refusal = {Step::kMount, EACCES};
  const SandboxGap gap = GapOf(facts, "tier full");
  EXPECT_THAT(gap.evidence, HasSubstr("a security module"));
  EXPECT_THAT(gap.remedy, HasSubstr("--security-opt apparmor=unconfined"));
}

TEST(GapsTest, WhatNoSwitchExplainsIsToldByItsError) {
  struct Case {
    int error;
    const char* evidence;
    const char* remedy;
  };
  for (const auto& [error, evidence, remedy] :
       {Case{EINVAL, "without namespaces", "CONFIG_USER_NS"},
        Case{ENOSPC, "a limit on namespaces", "user.max_"},
        Case{EAGAIN, "a limit on processes", "ulimit -u"},
        Case{EPERM, "chroot", "outside of the chroot"}}) {
    MachineFacts facts = Perfect();
    RefuseNamespaces(facts, Step::kUserNamespace, error);
    const SandboxGap gap = GapOf(facts, "tier full");
    EXPECT_THAT(gap.evidence, HasSubstr(evidence));
    EXPECT_THAT(gap.remedy, HasSubstr(remedy));
  }
}

TEST(GapsTest, AFailureThatIsNotOfTheNamespacesIsNotBlamedOnThem) {
  MachineFacts facts = Perfect();
  RefuseNamespaces(facts, Step::kNothing, 0);
  EXPECT_THAT(GapOf(facts, "tier full").evidence,
              HasSubstr("by themselves are not refused"));
}

TEST(GapsTest, WslIsToldWhatToDoInWindows) {
  MachineFacts facts = Perfect();
  facts.kernel_release = "5.15.153.1-microsoft-standard-WSL2";
  facts.landlock_abi = 0;
  facts.landlock_error = ENOSYS;
  EXPECT_THAT(GapOf(facts, "Landlock").remedy, HasSubstr("wsl --update"));
  facts.landlock_error = EOPNOTSUPP;
  EXPECT_THAT(GapOf(facts, "Landlock").remedy, HasSubstr(".wslconfig"));

  facts.kernel_release = "4.4.0-19041-Microsoft";
  RefuseNamespaces(facts, Step::kUserNamespace, EINVAL);
  facts.tier = Tier::kNone;
  EXPECT_THAT(GapOf(facts, "tier full").remedy, HasSubstr("set-version"));
}

TEST(GapsTest, LandlockThatIsNotActiveIsAddedToTheListThereIs) {
  MachineFacts facts = Perfect();
  facts.landlock_abi = 0;
  facts.landlock_error = EOPNOTSUPP;
  facts.security_modules = "lockdown,capability,yama,selinux";
  const SandboxGap gap = GapOf(facts, "Landlock");
  EXPECT_THAT(gap.evidence, HasSubstr("/sys/kernel/security/lsm: lockdown,"));
  EXPECT_THAT(gap.remedy,
              HasSubstr("lsm=landlock,lockdown,capability,yama,selinux"));
  EXPECT_THAT(gap.cost, HasSubstr("namespaces stand"));
}

TEST(GapsTest, LandlockThatAFilterHidesIsTheFiltersMatter) {
  MachineFacts facts = InContainer("docker");
  facts.landlock_abi = 0;
  facts.landlock_error = EPERM;
  facts.tier = Tier::kNone;
  const SandboxGap gap = GapOf(facts, "Landlock");
  EXPECT_THAT(gap.remedy, HasSubstr("landlock_restrict_self"));
  EXPECT_THAT(gap.cost, HasSubstr("no tier reduced"));
}

TEST(GapsTest, AnOldLandlockIsToldWhatItLacks) {
  MachineFacts facts = Perfect();
  facts.kernel_release = "6.1.0-18-amd64";
  facts.landlock_abi = 2;
  EXPECT_THAT(GapOf(facts, "a newer Landlock").evidence,
              HasSubstr("TCP (ABI 4)"));
}

TEST(GapsTest, WithoutSeccompNothingStarts) {
  MachineFacts facts = Perfect();
  RefuseNamespaces(facts, Step::kNothing, 0);
  facts.tier = Tier::kNone;
  facts.seccomp_filters = false;
  facts.reduced_failure = "cannot apply seccomp: Invalid argument";
  const SandboxGap gap = GapOf(facts, "seccomp filters");
  EXPECT_THAT(gap.remedy, HasSubstr("CONFIG_SECCOMP_FILTER"));
  EXPECT_THAT(gap.cost, HasSubstr("no backend is started"));
}

TEST(GapsTest, NamesOfCallsNeedANewKernelOrNoOtherListener) {
  MachineFacts facts = Perfect();
  facts.forbidden = Forbidden::kKill;
  facts.naming_failure = "cannot apply seccomp: Device or resource busy";
  EXPECT_THAT(GapOf(facts, "the name of").remedy,
              HasSubstr("no filter with a listener"));
  facts.kernel_release = "5.15.0-91-generic";
  EXPECT_THAT(GapOf(facts, "the name of").remedy, HasSubstr("Linux 5.19"));
}

TEST(GapsTest, FiltersThatCannotBeReadAreAGap) {
  MachineFacts facts = Perfect();
  facts.reads_memory = false;
  facts.root = true;
  EXPECT_THAT(GapOf(facts, "a comparison of the filters").remedy,
              HasSubstr("--cap-add=SYS_PTRACE"));
  facts.root = false;
  EXPECT_THAT(GapOf(facts, "a comparison of the filters").remedy,
              HasSubstr("kernel.yama.ptrace_scope"));
  // Where nobody is asked, the gap above says so.
  facts.forbidden = Forbidden::kKill;
  EXPECT_TRUE(GapsOf(facts, "a comparison of the filters").empty());
}

TEST(GapsTest, AHostNameOfTheHostCostsNoTier) {
  MachineFacts facts = Perfect();
  facts.own_host_name = false;
  facts.container = "podman";
  EXPECT_THAT(GapOf(facts, "a host name").remedy,
              HasSubstr("podman run --security-opt seccomp=FILE"));
  facts.tier = Tier::kReduced;
  for (const SandboxGap& gap : ExplainGaps(facts)) {
    EXPECT_THAT(gap.missing, testing::Not(HasSubstr("a host name")));
  }
}

// As with podman run --cap-drop=all.
TEST(GapsTest, RootWithoutCapabilitiesIsToldWhich) {
  MachineFacts facts = InContainer("podman");
  facts.file_capabilities = false;
  facts.own_uid = false;
  facts.own_uid_failure = "cannot drop supplementary groups";
  RefuseNamespaces(facts, Step::kNothing, 0);
  const char* options = "run --cap-add=SETUID --cap-add=SETGID --cap-add=KILL";
  EXPECT_THAT(GapOf(facts, "tier full").evidence, HasSubstr("CAP_SETFCAP"));
  EXPECT_THAT(GapOf(facts, "tier full").remedy, HasSubstr(options));
  EXPECT_THAT(GapOf(facts, "a uid").remedy, HasSubstr(options));
  facts.container = "kubernetes";
  EXPECT_THAT(GapOf(facts, "a uid").remedy,
              HasSubstr("capabilities: {add: [SETUID, SETGID, KILL]}"));
  facts.container = "";
  EXPECT_THAT(GapOf(facts, "a uid").remedy,
              HasSubstr("give it CAP_SETUID CAP_SETGID CAP_KILL"));
}

TEST(GapsTest, AnOrdinaryUserIsToldOfTheUidAndOfTheScope) {
  MachineFacts facts = Perfect();
  BeAnOrdinaryUser(facts);
  facts.cgroup = {.directory = "",
                  .controllers = {},
                  .mount = "/sys/fs/cgroup",
                  .writable = false,
                  .evidence = "nothing is delegated"};
  EXPECT_THAT(GapOf(facts, "a uid").remedy, HasSubstr("as root"));
  EXPECT_THAT(GapOf(facts, "cgroup").remedy,
              HasSubstr("systemd-run --user --scope"));
}

TEST(GapsTest, WhoMayMakeADirectoryIsToldWhich) {
  MachineFacts facts = Perfect();
  facts.cgroup = {.directory = "",
                  .controllers = {},
                  .mount = "/sys/fs/cgroup",
                  .writable = true,
                  .evidence = "nothing is delegated"};
  EXPECT_THAT(GapOf(facts, "cgroup").remedy,
              HasSubstr("export BULKHEAD_CGROUP=/sys/fs/cgroup/bulkhead"));
  facts.cgroup.writable = false;
  EXPECT_THAT(GapOf(facts, "cgroup").remedy,
              HasSubstr("ProtectControlGroups=no"));
  facts.cgroup.mount.clear();
  EXPECT_THAT(GapOf(facts, "cgroup").remedy,
              HasSubstr("systemd.unified_cgroup_hierarchy=1"));
}

TEST(GapsTest, ControllersThatAreMissingAreTold) {
  MachineFacts facts = Perfect();
  facts.cgroup.controllers = {"pids"};
  facts.cgroup.evidence = "memory is not in the list";
  const SandboxGap gap = GapOf(facts, "some limits");
  EXPECT_THAT(gap.evidence, HasSubstr("memory is not"));
  EXPECT_THAT(gap.remedy, HasSubstr("/sys/fs/cgroup/bulkhead/cgroup.subtree"));
}

TEST(GapsTest, SpeculationQuotesTheKernel) {
  MachineFacts facts = Perfect();
  facts.speculation = {{"speculative store bypass",
                        "spec_store_bypass_disable=prctl", "Vulnerable"}};
  const SandboxGap gap = GapOf(facts, "speculative store bypass");
  EXPECT_THAT(gap.evidence, HasSubstr("Vulnerable"));
  EXPECT_THAT(gap.remedy, HasSubstr("spec_store_bypass_disable=prctl"));
}

TEST(GapsTest, WhatOthersSeeOfASessionIsTold) {
  MachineFacts facts = Perfect();
  facts.logs_faults = 1;
  facts.hides_processes = false;
  EXPECT_THAT(GapOf(facts, "silence").remedy,
              HasSubstr("sysctl -w debug.exception-trace=0"));
  EXPECT_THAT(GapOf(facts, "/proc").remedy, HasSubstr("hidepid=invisible /"));
  BeAnOrdinaryUser(facts);
  EXPECT_THAT(GapOf(facts, "/proc").remedy, HasSubstr(",gid=GROUP"));
}

TEST(GapsTest, EveryGapHasAllFourParts) {
  for (const MachineFacts& facts :
       {InContainer("docker"), InContainer("kubernetes"), MachineFacts()}) {
    for (const SandboxGap& gap : ExplainGaps(facts)) {
      EXPECT_NE(gap.missing, "");
      EXPECT_NE(gap.evidence, "") << gap.missing;
      EXPECT_NE(gap.remedy, "") << gap.missing;
      EXPECT_NE(gap.cost, "") << gap.missing;
    }
  }
}

}  // namespace
}  // namespace bulkhead::sandbox
