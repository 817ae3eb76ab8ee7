// SPDX-License-Identifier: Apache-2.0
#include "core/application/api/state_path.h"

#include <gtest/gtest.h>

namespace bulkhead {
namespace {

using Variables = Environment::Variables;

std::string PathOf(const Variables& variables,
                   const std::optional<std::string>& option = {},
                   bool root = false) {
  return ResolveStatePath(Environment(variables), option, root).value();
}

TEST(StatePath, TheFirstThatIsGivenCounts) {
  Variables variables{{"HOME", "/h"}};
  EXPECT_EQ(PathOf(variables), "/h/.local/state/bulkhead");
  variables["XDG_STATE_HOME"] = "/x";
  EXPECT_EQ(PathOf(variables), "/x/bulkhead");
  EXPECT_EQ(PathOf(variables, {}, true), "/var/lib/bulkhead");
  variables["BULKHEAD_STATE_DIR"] = "/b";
  EXPECT_EQ(PathOf(variables, {}, true), "/b");
  EXPECT_EQ(PathOf(variables, "/o", true), "/o");
}

TEST(StatePath, EmptyIsNowhere) {
  EXPECT_EQ(PathOf({}), "");
  EXPECT_EQ(PathOf({{"HOME", "/h"}, {"BULKHEAD_STATE_DIR", ""}}), "");
  EXPECT_EQ(PathOf({{"BULKHEAD_STATE_DIR", "/b"}}, ""), "");
}

TEST(StatePath, ARelativePathIsAnErrorThatNamesWhoSaidIt) {
  const Environment environment(Variables{{"BULKHEAD_STATE_DIR", "b"}});
  const Status variable =
      ResolveStatePath(environment, std::nullopt, true).error();
  EXPECT_EQ(variable.code(), Code::kInvalidArgument);
  EXPECT_EQ(variable.message().find("BULKHEAD_STATE_DIR"), 0u);
  const Status option = ResolveStatePath(environment, "o", true).error();
  EXPECT_EQ(option.message().find("option state_directory"), 0u);
  EXPECT_EQ(PathOf({{"XDG_STATE_HOME", "x"}, {"HOME", "h"}}), "");
}

}  // namespace
}  // namespace bulkhead
