// SPDX-License-Identifier: Apache-2.0
#include "core/grants/grant_files.h"

#include <gtest/gtest.h>

#include <string>

namespace bulkhead::grants {
namespace {

using Variables = Environment::Variables;

std::string UsersFile(const Environment& environment,
                      const std::optional<std::string>& option = {}) {
  const GrantFiles files = ResolveGrantFiles(environment, option, false);
  EXPECT_EQ(files.all().front().path, "/etc/bulkhead/grants.toml");
  return files.users ? files.users->path : "";
}

TEST(GrantFilesTest, TheFirstThatIsGivenIsTheUsers) {
  EXPECT_EQ(UsersFile(Environment(Variables{{"HOME", "/h"}})),
            "/h/.config/bulkhead/grants.toml");
  EXPECT_EQ(UsersFile(Environment(
                Variables{{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/x"}})),
            "/x/bulkhead/grants.toml");
  const Environment all(Variables{{"HOME", "/h"}, {"BULKHEAD_GRANTS", "/g"}});
  EXPECT_EQ(UsersFile(all), "/g");
  EXPECT_EQ(UsersFile(all, "/o"), "/o");
  EXPECT_EQ(UsersFile(Environment(
                Variables{{"HOME", "/h"}, {"BULKHEAD_GRANTS", ""}})),
            "");
  EXPECT_EQ(UsersFile(Environment()), "");
}

TEST(GrantFilesTest, ARelativePathIsReportedAndReplacedByNothing) {
  const GrantFiles files = ResolveGrantFiles(
      Environment(Variables{{"HOME", "/h"}, {"BULKHEAD_GRANTS", "g"}}), {},
      false);
  EXPECT_FALSE(files.users);
  ASSERT_EQ(files.diagnostics.size(), 1u);
  EXPECT_NE(files.diagnostics[0].message.find("BULKHEAD_GRANTS"),
            std::string::npos);
}

TEST(GrantFilesTest, APrivilegedProcessHasTheSystemsAlone) {
  const GrantFiles files = ResolveGrantFiles(
      Environment(Variables{{"HOME", "/h"}, {"BULKHEAD_GRANTS", "/g"}}), "/o",
      true);
  ASSERT_EQ(files.all().size(), 1u);
  EXPECT_EQ(files.all()[0].path, kSystemGrants);
}

}  // namespace
}  // namespace bulkhead::grants
