// SPDX-License-Identifier: Apache-2.0
//
// Tests backends in cgroups of the machine's own hierarchy, with the
// controllers that the machine has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "bulkhead/host.h"
#include "tests/support/process_watch.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Returns where cgroup version 2 is mounted, or an empty string.
std::string Mount() {
  std::ifstream mounts("/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string source, point, type;
    words >> source >> point >> type;
    if (type == "cgroup2") return point;
  }
  return "";
}

std::string CgroupsOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cgroup");
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

class BackendCgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string made = Mount() + "/bulkhead-test-XXXXXX";
    if (Mount().empty() || mkdtemp(made.data()) == nullptr) {
      GTEST_SKIP() << "this user can make no cgroup of version 2";
    }
    directory_ = made;
  }
  void TearDown() override {
    if (directory_.empty()) return;
    EXPECT_EQ(rmdir(directory_.c_str()), 0) << "something was left in it";
  }

  std::unique_ptr<Host> Start() {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    options.cgroup = directory_;
    auto host = Host::Create(std::move(options));
    EXPECT_TRUE(host) << host.error();
    return *std::move(host);
  }

  int Lives() const {
    int lives = 0;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      lives += entry.is_directory() ? 1 : 0;
    }
    return lives;
  }

  std::string directory_;
};

TEST_F(BackendCgroupTest, EachLifeHasOneThatGoesWithIt) {
  auto host = Start();
  const SandboxReport sandbox = host->Sandbox().value();
  if (sandbox.tier == SandboxTier::kNone) GTEST_SKIP() << "no sandbox here";
  ASSERT_EQ(sandbox.cgroup, directory_);
  EXPECT_EQ(Lives(), 0);
  for (const std::string& reason : sandbox.reasons) {
    std::printf("%s\n", reason.c_str());
  }

  const Status ready = host->Prewarm("cpu");
  ASSERT_TRUE(ready.ok()) << ready;
  EXPECT_EQ(Lives(), 1);
  const std::string ours =
      fs::path(directory_).filename().string() + "/bulkhead-";
  const BackendReport report = host->Backends().value();
  for (const BackendInfo& backend : report.backends) {
    if (backend.name != "cpu") continue;
    EXPECT_THAT(CgroupsOf(backend.reaper_pid), HasSubstr(ours));
    EXPECT_THAT(CgroupsOf(backend.zygote_pid), HasSubstr(ours));
  }
  EXPECT_THAT(CgroupsOf(host->supervisor_pid()), testing::Not(HasSubstr(ours)));

  const ProcessWatch supervisor(host->supervisor_pid());
  host.reset();
  EXPECT_TRUE(supervisor.AwaitEnd());
  EXPECT_EQ(Lives(), 0);
}

TEST_F(BackendCgroupTest, WhatAKilledBulkheaddLeavesTheNextOneRemoves) {
  auto host = Start();
  if (host->Sandbox().value().tier == SandboxTier::kNone) {
    GTEST_SKIP() << "no sandbox here";
  }
  ASSERT_TRUE(host->Prewarm("cpu").ok());
  const ProcessWatch supervisor(host->supervisor_pid());
  ASSERT_TRUE(supervisor.Signal(SIGKILL));
  ASSERT_TRUE(supervisor.AwaitEnd());
  EXPECT_EQ(Lives(), 1);
  host = Start();
  ASSERT_TRUE(host->Sandbox());
  EXPECT_EQ(Lives(), 0);
}

TEST_F(BackendCgroupTest, ADirectoryThatIsNoneIsAReasonAndNoObstacle) {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  options.cgroup = "/tmp";
  auto host = Host::Create(std::move(options)).value();
  const SandboxReport sandbox = host->Sandbox().value();
  EXPECT_EQ(sandbox.cgroup, "");
  EXPECT_THAT(sandbox.reasons,
              testing::Contains(HasSubstr("/tmp, which BULKHEAD_CGROUP")));
  if (sandbox.tier == SandboxTier::kNone) return;
  EXPECT_TRUE(host->Prewarm("cpu").ok());
}

// The machine may have the memory controller in version 1 alone, where the
// directory limits nothing and the requirement is not met.
TEST_F(BackendCgroupTest,
       WhereMemoryIsNotLimitedARequirementStopsEveryBackend) {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  options.cgroup = directory_;
  options.require_memory_cgroup = true;
  auto host = Host::Create(std::move(options)).value();
  const SandboxReport sandbox = host->Sandbox().value();
  EXPECT_TRUE(sandbox.memory_cgroup_required);
  const Status ready = host->Prewarm("cpu");
  if (std::find(sandbox.cgroup_controllers.begin(),
                sandbox.cgroup_controllers.end(),
                "memory") != sandbox.cgroup_controllers.end()) {
    EXPECT_TRUE(ready.ok()) << ready;
    return;
  }
  std::printf("%s\n", ready.ToString().c_str());
  EXPECT_EQ(ready.code(), Code::kSandboxUnavailable);
  EXPECT_THAT(ready.message(),
              testing::AllOf(HasSubstr("limit the memory of a backend"),
                             HasSubstr("BULKHEAD_REQUIRE_MEMORY_CGROUP"),
                             HasSubstr("bulkhead doctor")));
  EXPECT_FALSE(host->OpenVideo("/dev/null", {.device = "cpu"}));
  EXPECT_EQ(Lives(), 0);
}

TEST_F(BackendCgroupTest, ARelativeDirectoryIsAWrongOption) {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  options.cgroup = "bulkhead";
  const auto host = Host::Create(std::move(options));
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(host.error().message(), HasSubstr("option cgroup"));
}

}  // namespace
}  // namespace bulkhead::tests
