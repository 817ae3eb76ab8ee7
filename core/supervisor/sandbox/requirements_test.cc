// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/requirements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bulkhead::sandbox {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

SandboxReport ReportOf(Tier tier) {
  SandboxReport report;
  report.tier = tier;
  if (tier == Tier::kFull) return report;
  report.gaps.push_back({.missing = "namespaces", .evidence = "EPERM"});
  return report;
}

TEST(RequirementsTest, ATierBelowTheFloorIsRefusedWithItsReason) {
  EXPECT_TRUE(CheckRequirements({}, ReportOf(Tier::kFull)).ok());
  const Status low = CheckRequirements({}, ReportOf(Tier::kReduced));
  EXPECT_EQ(low.code(), Code::kSandboxUnavailable);
  EXPECT_THAT(low.message(), AllOf(HasSubstr("EPERM"), HasSubstr("doctor"),
                                   HasSubstr("BULKHEAD_SANDBOX_FLOOR")));
  EXPECT_TRUE(
      CheckRequirements({.floor = Tier::kReduced}, ReportOf(Tier::kReduced))
          .ok());
}

TEST(RequirementsTest, NothingRunsInTierNone) {
  EXPECT_EQ(
      CheckRequirements({.floor = Tier::kNone}, ReportOf(Tier::kNone)).code(),
      Code::kSandboxUnavailable);
}

TEST(RequirementsTest, AMemoryCgroupIsRequiredOnlyByWhomeverAsksForIt) {
  SandboxReport report = ReportOf(Tier::kFull);
  report.cgroup.evidence = "cgroup version 2 is not mounted";
  EXPECT_TRUE(CheckRequirements({}, report).ok());
  const Status missing = CheckRequirements({.memory_cgroup = true}, report);
  EXPECT_EQ(missing.code(), Code::kSandboxUnavailable);
  EXPECT_THAT(
      missing.message(),
      AllOf(HasSubstr("memory"), HasSubstr("cgroup version 2 is not mounted"),
            HasSubstr("BULKHEAD_REQUIRE_MEMORY_CGROUP"), HasSubstr("doctor")));
}

TEST(RequirementsTest, ACgroupWithoutTheMemoryControllerIsNotEnough) {
  SandboxReport report = ReportOf(Tier::kFull);
  report.cgroup.directory = "/sys/fs/cgroup/bulkhead";
  report.cgroup.controllers = {"pids", "cpu"};
  EXPECT_FALSE(CheckRequirements({.memory_cgroup = true}, report).ok());
  report.cgroup.controllers.push_back("memory");
  EXPECT_TRUE(CheckRequirements({.memory_cgroup = true}, report).ok());
}

}  // namespace
}  // namespace bulkhead::sandbox
