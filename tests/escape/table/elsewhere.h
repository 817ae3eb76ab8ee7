// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace bulkhead::tests {

// The rows of the table that need more than code inside a worker: a worker that
// lies in its protocol, a host that dies, two threads on one ring. Each row
// names the test that covers it; elsewhere_test checks that this test exists.
struct Elsewhere {
  int row;
  const char* what;
  // The environment variable that holds the path of the test program.
  const char* program;
  const char* test;  // the name that --gtest_list_tests prints
};

std::span<const Elsewhere> MadeElsewhere();

}  // namespace bulkhead::tests
