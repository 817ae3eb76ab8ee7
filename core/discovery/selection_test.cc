// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/selection.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bulkhead::discovery {
namespace {

Result<Selection> WithSwitch(const std::string& value) {
  return Selection::FromEnvironment(
      Environment(Environment::Variables{{kAutoloadVariable, value}}));
}

TEST(SelectionTest, TheSwitchIsOnOffOrAnError) {
  EXPECT_TRUE(Selection::FromEnvironment(Environment())->autoload);
  EXPECT_TRUE(WithSwitch("1")->autoload);
  EXPECT_FALSE(WithSwitch("0")->autoload);
  for (const char* value : {"", "01", "1 ", " 1", "true", "on", "2", "false"}) {
    const Result<Selection> got = WithSwitch(value);
    ASSERT_FALSE(got) << value;
    EXPECT_EQ(got.error().code(), Code::kInvalidArgument);
    EXPECT_NE(got.error().message().find(kAutoloadVariable), std::string::npos);
  }
}

TEST(SelectionTest, EveryDropNamesItsRule) {
  const Selection selection =
      Selection::FromEnvironment(Environment(Environment::Variables{
                                     {"BULKHEAD_BACKENDS", "a*, cpu,"},
                                     {"BULKHEAD_BACKENDS_DISABLE", " *x ,b"}}))
          .value();
  EXPECT_EQ(selection.RuleAgainst("acme", false), std::nullopt);
  EXPECT_EQ(selection.RuleAgainst("cpu", true), std::nullopt);
  EXPECT_EQ(selection.RuleAgainst("ax", false),
            "disabled by \"*x\" in BULKHEAD_BACKENDS_DISABLE");
  EXPECT_EQ(selection.RuleAgainst("other", true),
            "not among those that BULKHEAD_BACKENDS names");
}

TEST(SelectionTest, ExecNamesItsRule) {
  const Selection selection =
      Selection::FromEnvironment(Environment(Environment::Variables{
                                     {"BULKHEAD_BACKENDS_EXEC", "a*, cpu"}}))
          .value();
  EXPECT_EQ(selection.RuleForExec("acme"), "\"a*\" in BULKHEAD_BACKENDS_EXEC");
  EXPECT_EQ(selection.RuleForExec("other"), std::nullopt);
  EXPECT_EQ(Selection().RuleForExec("cpu"), std::nullopt);
}

TEST(SelectionTest, AutoloadOffSparesOurOwnBackends) {
  Selection selection;
  selection.autoload = false;
  EXPECT_EQ(selection.RuleAgainst("cpu", true), std::nullopt);
  EXPECT_NE(selection.RuleAgainst("acme", false)->find("AUTOLOAD=0"),
            std::string::npos);
}

}  // namespace
}  // namespace bulkhead::discovery
