// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/table/attempt.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace bulkhead::tests {
namespace {

TEST(AttemptTest, NamesAreUnique) {
  std::set<std::string> names;
  for (const Attempt& attempt : AllAttempts()) {
    EXPECT_TRUE(names.insert(attempt.name).second) << attempt.name;
  }
  EXPECT_FALSE(names.empty());
}

}  // namespace
}  // namespace bulkhead::tests
