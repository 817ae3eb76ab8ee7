// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/fault_table.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

TEST(FaultTableTest, EveryRowIsThereAndEachTestThatIsNamedExists) {
  std::map<std::string, std::string> lists;
  std::set<int> rows;
  int tested = 0;
  std::printf("%3s  %-38s %-34s %-34s %s\n", "row", "fault", "made by",
              "outcome", "test");
  for (const FaultEntry& entry : FaultTable()) {
    std::printf("%3d  %-38s %-34s %-34s %s\n", entry.row, entry.fault,
                entry.made_by, entry.outcome, entry.test);
    rows.insert(entry.row);
    if (entry.program == nullptr) continue;
    ++tested;
    const auto [list, is_new] = lists.try_emplace(entry.program);
    if (is_new) list->second = ListTests(PathFromEnvironment(entry.program));
    EXPECT_NE(list->second.find(entry.test), std::string::npos)
        << "row " << entry.row << ": " << entry.test;
  }
  for (int row = 1; row <= kFaultRows; ++row) {
    EXPECT_TRUE(rows.contains(row)) << "row " << row;
  }
  std::printf("%zu rows, %zu entries, %d with a test\n", rows.size(),
              FaultTable().size(), tested);
}

}  // namespace
}  // namespace bulkhead::tests
