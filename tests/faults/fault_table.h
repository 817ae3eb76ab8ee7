// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace bulkhead::tests {

// The table of faults on the host's side. Each of its 55 rows names the fault,
// the way in which a test causes it, the required outcome, and the test. A row
// may have several entries. fault_table_test prints the table, and fails if a
// row is missing or a named test does not exist.
struct FaultEntry {
  int row;
  const char* fault;
  const char* made_by;
  const char* outcome;
  // The environment variable that holds the path of the test program. Null if
  // there is no test for the fault; `test` then says why.
  const char* program;
  const char* test;  // the name that --gtest_list_tests prints
};

inline constexpr int kFaultRows = 55;

std::span<const FaultEntry> FaultTable();

}  // namespace bulkhead::tests
