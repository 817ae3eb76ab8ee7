// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace bulkhead::tests {

// The table of faults on the host's side, 55 rows: what happens, how a test
// makes it happen, what has to come of it, and which test that is. A row may
// have several entries. fault_table_test prints it, and fails when a row is
// missing or a test that is named does not exist.
struct FaultEntry {
  int row;
  const char* fault;
  const char* made_by;
  const char* outcome;
  // Of the environment, with the path of the test program; null: there is no
  // such test, and `test` says why.
  const char* program;
  const char* test;  // as --gtest_list_tests prints it
};

inline constexpr int kFaultRows = 55;

std::span<const FaultEntry> FaultTable();

}  // namespace bulkhead::tests
