// SPDX-License-Identifier: Apache-2.0
#include "core/base/environment.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace bulkhead {
namespace {

TEST(EnvironmentTest, TellsUnsetFromEmpty) {
  const Environment environment(Environment::Variables{{"EMPTY", ""}});
  EXPECT_EQ(environment.Get("EMPTY"), "");
  EXPECT_EQ(environment.Get("UNSET"), std::nullopt);
}

TEST(EnvironmentTest, IsACopyOfTheProcess) {
  ASSERT_EQ(setenv("BULKHEAD_TEST_VARIABLE", "a=b", 1), 0);
  const Environment environment = Environment::FromProcess();
  ASSERT_EQ(unsetenv("BULKHEAD_TEST_VARIABLE"), 0);
  EXPECT_EQ(environment.Get("BULKHEAD_TEST_VARIABLE"), "a=b");
}

}  // namespace
}  // namespace bulkhead
