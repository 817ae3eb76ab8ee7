// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/table/elsewhere.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tests/escape/table/attempt.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

constexpr int kRows = 70;
constexpr int kControl = 70;  // table_test.cc, TheSameProcessStillDecodes

TEST(ElsewhereTest, EachTestThatIsNamedExists) {
  std::map<std::string, std::string> lists;
  for (const Elsewhere& made : MadeElsewhere()) {
    auto [list, is_new] = lists.try_emplace(made.program);
    if (is_new) list->second = ListTests(PathFromEnvironment(made.program));
    EXPECT_NE(list->second.find(made.test), std::string::npos)
        << "row " << made.row << ": " << made.test;
  }
}

TEST(ElsewhereTest, EveryRowIsMadeSomewhere) {
  std::set<int> rows = {kControl};
  for (const Attempt& attempt : AllAttempts()) rows.insert(attempt.row);
  for (const Elsewhere& made : MadeElsewhere()) rows.insert(made.row);
  for (int row = 1; row <= kRows; ++row) {
    EXPECT_TRUE(rows.contains(row)) << "row " << row;
  }
}

TEST(ElsewhereTest, NamesOfAttemptsAreUnique) {
  std::set<std::string> names;
  for (const Attempt& attempt : AllAttempts()) {
    EXPECT_TRUE(names.insert(attempt.name).second) << attempt.name;
  }
}

}  // namespace
}  // namespace bulkhead::tests
