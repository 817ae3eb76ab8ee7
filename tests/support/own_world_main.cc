// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/own_world.h"

// Runs the tests where no operator's command from outside reaches them.
int main(int argc, char** argv) {
  bulkhead::tests::EnterOwnWorld();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
