// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/plugin_path.h"

#include <gtest/gtest.h>

#include <string>

namespace bulkhead::discovery {
namespace {

using Variables = Environment::Variables;

std::string Paths(const Variables& variables) {
  std::string text;
  for (const SearchDirectory& directory :
       ResolvePluginPath(Environment(variables), {"/built"}).directories) {
    text += directory.path + (directory.built_in ? "*" : "") + ":";
  }
  return text;
}

TEST(PluginPathTest, FollowsTheOrderOfPrecedence) {
  const std::string system = "/usr/local/lib/bulkhead:/usr/lib/bulkhead:";
  const struct {
    Variables variables;
    std::string expected;
  } kCases[] = {
      {{}, system + "/built*:"},
      {{{"HOME", "/h"}}, "/h/.local/share/bulkhead:" + system + "/built*:"},
      {{{"HOME", "/h"}, {"XDG_DATA_HOME", "/d"}},
       "/d/bulkhead:" + system + "/built*:"},
      {{{"HOME", "/h"}, {"XDG_DATA_HOME", "d"}},
       "/h/.local/share/bulkhead:" + system + "/built*:"},
      {{{"BULKHEAD_PATH", "/a:/b/"}, {"HOME", "/h"}}, "/a:/b:/built*:"},
      {{{"BULKHEAD_PATH", ""}}, "/built*:"},
      {{{"BULKHEAD_ADD_PATH", "/c"}}, "/c:" + system + "/built*:"},
      {{{"BULKHEAD_PATH", "/a"}, {"BULKHEAD_ADD_PATH", "/c"}},
       "/c:/a:/built*:"},
      {{{"BULKHEAD_PATH", "/a::/a:/built"}}, "/a:/built:"},
      {{{"BULKHEAD_PATH", "/a/x/../b/./:/a/b"}}, "/a/b:/built*:"},
  };
  for (const auto& test : kCases) {
    EXPECT_EQ(Paths(test.variables), test.expected);
  }
}

TEST(PluginPathTest, AnOptionStandsForItsVariableAlone) {
  const Environment environment(
      Variables{{"BULKHEAD_PATH", "/path"}, {"BULKHEAD_ADD_PATH", "/added"}});
  const auto paths = [&](const PluginPathOverrides& overrides) {
    std::string text;
    for (const SearchDirectory& directory :
         ResolvePluginPath(environment, {}, overrides).directories) {
      text += directory.path + " (" + directory.origin + ") ";
    }
    return text;
  };
  EXPECT_EQ(paths({.path = {{"/option"}}}),
            "/added (BULKHEAD_ADD_PATH) /option (option plugin_path, "
            "--plugin-path) ");
  EXPECT_EQ(paths({.add_path = {{"/option"}}}),
            "/option (option plugin_add_path) /path (BULKHEAD_PATH) ");
}

TEST(PluginPathTest, TheLastPathFollowsBulkheadsOwnBackends) {
  const PluginPath path =
      ResolvePluginPath(Environment(Variables{{"BULKHEAD_PATH", "/path"}}),
                        {"/built"}, {.last_path = {{"/last", "/path"}}});
  std::string text;
  for (const SearchDirectory& directory : path.directories) {
    text += directory.path + " (" + directory.origin + ") ";
  }
  EXPECT_EQ(text,
            "/path (BULKHEAD_PATH) /built (built in) "
            "/last (option plugin_last_path) ");
}

TEST(PluginPathTest, RelativeDirectoriesAreReported) {
  const PluginPath path = ResolvePluginPath(
      Environment(Variables{{"BULKHEAD_PATH", "here:/a"}}), {});
  ASSERT_EQ(path.directories.size(), 1u);
  EXPECT_EQ(path.directories[0].origin, "BULKHEAD_PATH");
  ASSERT_EQ(path.diagnostics.size(), 1u);
  EXPECT_NE(path.diagnostics[0].message.find("\"here\""), std::string::npos);
}

}  // namespace
}  // namespace bulkhead::discovery
