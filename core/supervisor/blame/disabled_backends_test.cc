// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/blame/disabled_backends.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::blame {
namespace {

TEST(DisabledBackends, OutliveTheObjectUntilTheyAreEnabled) {
  const TemporaryTree tree;
  const std::string state = tree.path() + "/state";
  EXPECT_FALSE(DisabledBackends(state).Contains("acme"));
  EXPECT_TRUE(DisabledBackends(state).Add("acme").ok());
  EXPECT_TRUE(DisabledBackends(state).Contains("acme"));
  EXPECT_FALSE(DisabledBackends(state).Contains("acme2"));
  EXPECT_TRUE(DisabledBackends(state).Remove("acme").ok());
  EXPECT_FALSE(DisabledBackends(state).Contains("acme"));
  EXPECT_TRUE(DisabledBackends(state).Remove("acme").ok());
}

TEST(DisabledBackends, ARecordOfAnotherNameDoesNotCount) {
  const TemporaryTree tree;
  const std::string state = tree.path() + "/state";
  ASSERT_TRUE(DisabledBackends(state).Add("acme").ok());
  for (const auto& entry : std::filesystem::directory_iterator(state)) {
    std::ofstream(entry.path()) << "other";
  }
  EXPECT_FALSE(DisabledBackends(state).Contains("acme"));
}

TEST(DisabledBackends, WithoutADirectoryNothingIsKept) {
  DisabledBackends none("");
  EXPECT_TRUE(none.Add("acme").ok());
  EXPECT_FALSE(none.Contains("acme"));
}

}  // namespace
}  // namespace bulkhead::blame
