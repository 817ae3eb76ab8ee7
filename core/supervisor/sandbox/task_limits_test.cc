// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/task_limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::sandbox {
namespace {

// A machine with version 1 of cgroups, where this process is in a container,
// whose limit is `most`.
class TaskLimitsTest : public testing::Test {
 protected:
  TaskLimitsTest() {
    tree_.Write("proc/self/cgroup", "8:cpu,pids:/box/inner\n0::/\n");
    tree_.Write("proc/self/mountinfo",
                "30 24 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
                "31 24 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
                "32 24 0:29 / /sys/fs/cgroup/pids rw - cgroup none rw,pids\n");
    tree_.Write("proc/sys/kernel/threads-max", "100000\n");
    tree_.Write("proc/sys/kernel/pid_max", "32768\n");
    Machine(300);
    Cgroup("box", "2048", 300);
    Cgroup("box/inner", "max", 300);
  }
  void Machine(int tasks) {
    tree_.Write("proc/loadavg",
                "0.20 0.18 0.12 2/" + std::to_string(tasks) + " 11206\n");
  }
  void Cgroup(const std::string& name, const std::string& most, int now,
              int refusals = 0) {
    const std::string directory = "sys/fs/cgroup/pids/" + name;
    tree_.Write(directory + "/pids.max", most + "\n");
    tree_.Write(directory + "/pids.current", std::to_string(now) + "\n");
    tree_.Write(directory + "/pids.events",
                "max " + std::to_string(refusals) + "\n");
  }

  TemporaryTree tree_;
};

TEST_F(TaskLimitsTest, ABackendMayHaveHalfOfTheLowestLimit) {
  EXPECT_EQ(TaskLimits(tree_ / "").ForOneBackend(), 1024u);
  Cgroup("box/inner", "1000", 300);
  EXPECT_EQ(TaskLimits(tree_ / "").ForOneBackend(), 500u);
  Cgroup("box/inner", "100", 50);
  EXPECT_EQ(TaskLimits(tree_ / "").ForOneBackend(), 256u) << "it needs these";
}

TEST_F(TaskLimitsTest, TheKernelsLimitCounts) {
  tree_.Write("proc/self/cgroup", "");
  EXPECT_EQ(TaskLimits(tree_ / "").ForOneBackend(), 16384u);
  const TaskLimits limits(tree_ / "");
  EXPECT_FALSE(limits.WereUsedUp(0));
  Machine(32768 - 100);
  EXPECT_TRUE(limits.WereUsedUp(0));
}

TEST_F(TaskLimitsTest, ALimitOfAnyCgroupAboveIsUsedUp) {
  const TaskLimits limits(tree_ / "");
  EXPECT_FALSE(limits.WereUsedUp(0));
  Cgroup("box", "2048", 2048 - 128);
  EXPECT_FALSE(limits.WereUsedUp(0));
  Cgroup("box", "2048", 2048 - 127);
  EXPECT_TRUE(limits.WereUsedUp(0));
  Cgroup("box", "160", 80);
  EXPECT_FALSE(limits.WereUsedUp(0)) << "a small limit needs less room";
  Cgroup("box", "160", 81);
  EXPECT_TRUE(limits.WereUsedUp(0));
  Cgroup("box", "300", 250);
  EXPECT_TRUE(limits.WereUsedUp(0)) << "a decoder may start 64 threads";
}

TEST_F(TaskLimitsTest, AProcessDoesNotNameItsUser) {
  const std::string user = std::to_string(getuid());
  tree_.Write("proc/7/status",
              "Name:\tUid: 77\nUid:\t" + user + "\t0\t0\t0\nThreads:\t400\n");
  tree_.Write("proc/8/status",
              "Name:\tUid: " + user + "\nUid:\t77\t0\t0\t0\nThreads:\t50\n");
  EXPECT_EQ(TaskLimits(tree_ / "").TasksOfUser(), 400u);
}

TEST_F(TaskLimitsTest, WhatACgroupBelowRefusedDoesNotCount) {
  const TaskLimits limits(tree_ / "");
  tree_.Write("sys/fs/cgroup/pids/box/pids.events.local", "max 2\n");
  Cgroup("box", "2048", 300, 7);
  EXPECT_EQ(limits.Refusals(), 2u);
}

TEST_F(TaskLimitsTest, WhatWasRefusedMeanwhileCounts) {
  const TaskLimits limits(tree_ / "");
  Cgroup("box", "2048", 300, 7);
  const uint64_t before = limits.Refusals();
  EXPECT_EQ(before, 7u);
  EXPECT_FALSE(limits.WereUsedUp(before));
  Cgroup("box", "2048", 300, 8);
  EXPECT_TRUE(limits.WereUsedUp(before));
}

TEST_F(TaskLimitsTest, Version2InAContainerThatSeesOnlyItsOwn) {
  tree_.Write("proc/self/cgroup", "0::/pod/box\n");
  tree_.Write("proc/self/mountinfo",
              "30 24 0:27 /pod/box /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  tree_.Write("sys/fs/cgroup/pids.max", "700\n");
  tree_.Write("sys/fs/cgroup/pids.current", "690\n");
  const TaskLimits limits(tree_ / "");
  EXPECT_EQ(limits.ForOneBackend(), 350u);
  EXPECT_TRUE(limits.WereUsedUp(0));
}

TEST_F(TaskLimitsTest, WithoutAnyFileThereIsNoLimit) {
  const TemporaryTree empty;
  const TaskLimits limits(empty / "");
  EXPECT_GE(limits.ForOneBackend(), 256u);
  EXPECT_FALSE(limits.WereUsedUp(0));
}

}  // namespace
}  // namespace bulkhead::sandbox
