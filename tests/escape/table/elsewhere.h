// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace bulkhead::tests {

// Rows of the table that need more than code inside a worker: a worker whose
// own protocol lies, a host that dies, two threads over one ring. Each names
// the test that makes it; elsewhere_test checks that there is such a test.
struct Elsewhere {
  int row;
  const char* what;
  // Of the environment, with the path of the test program.
  const char* program;
  const char* test;  // as --gtest_list_tests prints it
};

std::span<const Elsewhere> MadeElsewhere();

}  // namespace bulkhead::tests
