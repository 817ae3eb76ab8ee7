// SPDX-License-Identifier: Apache-2.0
#include "tools/install/plugin_directory.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/discovery/temporary_tree.h"

namespace bulkhead::install {
namespace {

using discovery::Environment;

TEST(PluginDirectory, DefaultIsOnThePluginPath) {
  for (const Environment& environment :
       {Environment(Environment::Variables{{"HOME", "/home/ann"}}),
        Environment(Environment::Variables{{"HOME", "/home/ann"},
                                           {"XDG_DATA_HOME", "/data"}}),
        Environment(Environment::Variables{{"HOME", "/home/ann"},
                                           {"XDG_DATA_HOME", "relative"}})}) {
    for (const unsigned uid : {0u, 1000u}) {
      const auto directory = DefaultPluginDirectory(environment, uid);
      ASSERT_TRUE(directory) << directory.error();
      EXPECT_TRUE(IsOnPluginPath(environment, *directory)) << *directory;
    }
  }
}

TEST(PluginDirectory, UsersHaveTheirOwn) {
  const Environment environment(Environment::Variables{{"HOME", "/home/ann"}});
  EXPECT_EQ(DefaultPluginDirectory(environment, 0).value(),
            "/usr/local/lib/bulkhead");
  EXPECT_EQ(DefaultPluginDirectory(environment, 1000).value(),
            "/home/ann/.local/share/bulkhead");
  EXPECT_FALSE(DefaultPluginDirectory(Environment(), 1000));
}

TEST(PluginDirectory, AnotherNameOfADirectoryIsTheSame) {
  const discovery::TemporaryTree tree;
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
