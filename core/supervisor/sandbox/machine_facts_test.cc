// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/machine_facts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::sandbox {
namespace {

TEST(MachineFactsTest, ReadsTheSwitchesOfAMachine) {
  const TemporaryTree machine;
  const std::string switches = "proc/sys/";
  machine.Write(switches + "kernel/apparmor_restrict_unprivileged_userns",
                "1\n");
  machine.Write(switches + "kernel/unprivileged_userns_clone", "0\n");
  machine.Write(switches + "user/max_user_namespaces", "63432\n");
  machine.Write(switches + "kernel/seccomp/actions_avail", "allow\n");
  machine.Write("sys/kernel/security/lsm", "lockdown,yama");
  machine.Write("proc/self/status",
                "Name:\tbulkheadd\nCapEff:\t00000000a80425fb\nSeccomp:\t2\n");
  machine.Write(".dockerenv", "");
  const MachineFacts facts = GatherMachineFacts(machine.path());
  EXPECT_EQ(facts.apparmor_restricts_user_namespaces, 1);
  EXPECT_EQ(facts.unprivileged_user_namespaces, 0);
  EXPECT_EQ(facts.most_user_namespaces, 63432);
  EXPECT_TRUE(facts.seccomp_filters);
  EXPECT_EQ(facts.security_modules, "lockdown,yama");
  EXPECT_EQ(facts.seccomp_mode, 2);
  EXPECT_FALSE(facts.system_administrator);
  EXPECT_TRUE(facts.file_capabilities);
  EXPECT_EQ(facts.container, "docker");
}

TEST(MachineFactsTest, ReadsWhatOthersSeeOfAProcess) {
  const TemporaryTree machine;
  machine.Write("proc/sys/debug/exception-trace", "1\n");
  const auto hides = [&](const char* options) {
    machine.Write("proc/self/mounts",
                  std::string("tmpfs / tmpfs rw 0 0\nproc /proc proc ") +
                      options + " 0 0\nproc /var/lib/proc proc rw 0 0\n");
    return GatherMachineFacts(machine.path()).hides_processes;
  };
  EXPECT_TRUE(hides("rw,relatime,hidepid=invisible,gid=5"));
  EXPECT_TRUE(hides("rw,hidepid=1"));
  EXPECT_FALSE(hides("rw,relatime"));
  EXPECT_FALSE(hides("rw,hidepid=off"));
  EXPECT_EQ(GatherMachineFacts(machine.path()).logs_faults, 1);
}

TEST(MachineFactsTest, KubernetesIsSeenBeforeWhatRunsItsContainers) {
  const TemporaryTree machine;
  machine.Write(".dockerenv", "");
  machine.Write("run/secrets/kubernetes.io/serviceaccount/token", "");
  EXPECT_EQ(GatherMachineFacts(machine.path()).container, "kubernetes");
}

TEST(MachineFactsTest, WhatAMachineDoesNotShowHasNoValue) {
  const TemporaryTree machine;
  machine.Write("proc/sys/user/max_user_namespaces", "many\n");
  const MachineFacts facts = GatherMachineFacts(machine.path());
  EXPECT_FALSE(facts.apparmor_restricts_user_namespaces);
  EXPECT_FALSE(facts.most_user_namespaces);
  EXPECT_FALSE(facts.security_modules);
  EXPECT_FALSE(facts.seccomp_filters);
  EXPECT_EQ(facts.seccomp_mode, 0);
  EXPECT_EQ(facts.container, "");
}

TEST(MachineFactsTest, ThisMachineSaysWhoWeAre) {
  const MachineFacts facts = GatherMachineFacts();
  EXPECT_EQ(facts.root, geteuid() == 0);
  EXPECT_NE(facts.kernel_release, "");
  EXPECT_EQ(access(facts.executable.c_str(), X_OK), 0);
}

}  // namespace
}  // namespace bulkhead::sandbox
