// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/package_version.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace bulkhead::discovery {
namespace {

TEST(VersionTest, OrdersAsPep440Does) {
  const std::string kAscending[] = {"junk",
                                    "zebra",
                                    "1.0.dev456",
                                    "1.0a1.dev1",
                                    "1.0a1",
                                    "1.0a2.dev456",
                                    "1.0a12",
                                    "1.0b1.dev456",
                                    "1.0b2",
                                    "1.0b2.post345",
                                    "1.0rc1.dev456",
                                    "1.0rc1",
                                    "1.0",
                                    "1.0+abc.5",
                                    "1.0+abc.7",
                                    "1.0+5",
                                    "1.0.post456.dev34",
                                    "1.0.post456",
                                    "1.1.dev1",
                                    "1.9",
                                    "1.10",
                                    "2.0",
                                    "99999999999999999999999999",
                                    "100000000000000000000000000",
                                    "1!0.1"};
  for (const std::string& left : kAscending) {
    for (const std::string& right : kAscending) {
      const auto expected = &left <=> &right;
      EXPECT_TRUE(CompareVersions(left, right) == expected)
          << left << " " << right;
    }
  }
}

TEST(VersionTest, SpellingsOfOneVersionAreEqual) {
  const std::pair<const char*, const char*> kSame[] = {
      {"1.0", "1"},           {"1.0", "v1.0.0"},
      {"1.0", " 01.00 "},     {"1.0a1", "1.0-ALPHA.1"},
      {"1.0rc1", "1.0c1"},    {"1.0rc1", "1.0-preview1"},
      {"1.0a0", "1.0a"},      {"1.0.post1", "1.0-1"},
      {"1.0.post1", "1.0r1"}, {"1.0.dev0", "1.0dev"},
      {"1.0+a.1", "1.0+A_1"}, {"0!1", "1"}};
  for (const auto& [left, right] : kSame) {
    EXPECT_TRUE(CompareVersions(left, right) == 0) << left << " " << right;
  }
}

TEST(VersionTest, OtherTextComesBelowTheLowestVersion) {
  constexpr char kLowest[] = "0.dev0";
  for (const char* text : {"", "v", "1.", "1..0", "a1", "1.0+", "1.0+a..b",
                           "1!", "!1", "1.0x", "1.0 beta 1 x", "-1"}) {
    EXPECT_TRUE(CompareVersions(text, kLowest) < 0) << text;
  }
  EXPECT_TRUE(CompareVersions("2.5.0.dev20260821+cpu", kLowest) > 0);
}

}  // namespace
}  // namespace bulkhead::discovery
