// SPDX-License-Identifier: Apache-2.0
#include "tools/install/plugin_directory.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::install {
namespace {

TEST(PluginDirectoryTest, DefaultIsOnThePluginPath) {
  for (const Environment& environment :
       {Environment(Environment::Variables{{"HOME", "/home/ann"}}),
        Environment(Environment::Variables{{"HOME", "/home/ann"},
                                           {"XDG_DATA_HOME", "/data"}}),
        Environment(Environment::Variables{{"HOME", "/home/ann"},
                                           {"XDG_DATA_HOME", "relative"}})}) {
    for (const unsigned uid : {0u, 1000u}) {
      const auto directory = PluginDirectory("", environment, uid);
      ASSERT_TRUE(directory) << directory.error();
      EXPECT_TRUE(IsOnPluginPath(environment, *directory)) << *directory;
    }
  }
}

TEST(PluginDirectoryTest, UsersHaveTheirOwn) {
  const Environment environment(Environment::Variables{{"HOME", "/home/ann"}});
  EXPECT_EQ(PluginDirectory("", environment, 0).value(),
            "/usr/local/lib/bulkhead");
  EXPECT_EQ(PluginDirectory("", environment, 1000).value(),
            "/home/ann/.local/share/bulkhead");
  EXPECT_FALSE(PluginDirectory("", Environment(), 1000));
}

TEST(PluginDirectoryTest, ChosenOneIsMadeAbsolute) {
  const std::string here = std::filesystem::current_path();
  for (const char* chosen : {"a/b", "a/b/", "./a//c/../b"}) {
    EXPECT_EQ(PluginDirectory(chosen, Environment(), 1000).value(),
              here + "/a/b");
  }
  EXPECT_EQ(PluginDirectory("/", Environment(), 0).value(), "/");
}

TEST(PluginDirectoryTest, AnotherNameOfADirectoryIsTheSame) {
  const TemporaryTree tree;
  std::filesystem::create_directory(tree / "real");
  std::filesystem::create_directory_symlink("real", tree / "link");
  const Environment environment(
      Environment::Variables{{"BULKHEAD_PATH", tree / "link"}});
  EXPECT_TRUE(IsOnPluginPath(environment, tree / "real"));
  EXPECT_FALSE(IsOnPluginPath(environment, tree.path()));
  EXPECT_FALSE(IsOnPluginPath(environment, "/usr/local/lib/bulkhead"))
      << "replaced";
}

}  // namespace
}  // namespace bulkhead::install
