// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/soak_plan.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/chaos/fault.h"

namespace bulkhead::tests {
namespace {

const std::vector<size_t> kLengths = {10, 30, 120};

TEST(SoakPlanTest, IsTheSameForTheSameNumber) {
  std::set<std::string> drawn;
  for (uint64_t number = 0; number < 1000; ++number) {
    const SoakPlan plan = DrawPlan(7, number, kLengths);
    const SoakPlan again = DrawPlan(7, number, kLengths);
    EXPECT_EQ(plan.Describe(), again.Describe());
    EXPECT_EQ(plan.file, again.file);
    EXPECT_EQ(plan.indices, again.indices);
    drawn.insert(plan.Describe());
  }
  EXPECT_GT(drawn.size(), 300u);
}

TEST(SoakPlanTest, HasFaultsThatTheBackendUnderstandsOrAVictim) {
  std::set<SoakPlan::Victim> victims;
  for (uint64_t number = 0; number < 1000; ++number) {
    const SoakPlan plan = DrawPlan(7, number, kLengths);
    victims.insert(plan.victim);
    EXPECT_EQ(plan.faults.empty(), plan.victim != SoakPlan::Victim::kNobody);
    const auto faults = ParseFaults(plan.faults);
    EXPECT_TRUE(faults) << faults.error();
    for (const size_t index : plan.indices) {
      EXPECT_LT(index, kLengths[plan.file]);
    }
  }
  EXPECT_EQ(victims.size(), 5u);
}

}  // namespace
}  // namespace bulkhead::tests
