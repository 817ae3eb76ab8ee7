// SPDX-License-Identifier: Apache-2.0
#include "tests/support/rows.h"

#include <gtest/gtest.h>

namespace bulkhead::tests {
namespace {

std::string NameOf(TableRow row) {
  return std::string(row.table) + " " + std::to_string(row.number);
}

void Record(TableRow row, const std::string& what, const std::string& outcome) {
  testing::Test::RecordProperty(NameOf(row) + " " + what, outcome);
}

}  // namespace

void ExpectOutcome(TableRow row, const std::string& what,
                   const std::string& expected, const std::string& got) {
  Record(row, what, got);
  EXPECT_EQ(got, expected) << NameOf(row) << ": " << what;
}

void ExpectSameFrames(TableRow row, const std::string& what,
                      const std::vector<std::string>& expected,
                      const std::vector<std::string>& got) {
  const bool same = got == expected && !expected.empty();
  Record(row, what,
         same ? std::to_string(got.size()) + " identical frames" : "differs");
  EXPECT_FALSE(expected.empty()) << NameOf(row) << ": " << what;
  EXPECT_EQ(got, expected) << NameOf(row) << ": " << what;
}

void ExpectAtMost(TableRow row, const std::string& what, int64_t most,
                  int64_t got, const std::string& unit) {
  Record(
      row, what,
      std::to_string(got) + " of at most " + std::to_string(most) + " " + unit);
  EXPECT_LE(got, most) << NameOf(row) << ": " << what << ", " << unit;
}

}  // namespace bulkhead::tests
