// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/entry_point.h"

#include <gtest/gtest.h>

namespace bulkhead {
namespace {

EntryPoints Some() {
  return EntryPoints({{.name = "main",
                       .value = "mod:main",
                       .group = "entries",
                       .module = "mod",
                       .attr = "main",
                       .distribution = "distinfo-pkg",
                       .version = "1.0.0"},
                      {.name = "ns:sub",
                       .value = "mod:main [x, y]",
                       .group = "entries",
                       .module = "mod",
                       .attr = "main",
                       .extras = {"x", "y"},
                       .distribution = "distinfo-pkg"},
                      {.name = "main",
                       .value = "other",
                       .group = "more.entries",
                       .module = "other",
                       .distribution = "Other.Pkg"}});
}

TEST(EntryPoints, SelectTakesThoseThatMatchInEverySetMember) {
  EXPECT_EQ(Some().Select({}).size(), 3u);
  EXPECT_EQ(Some().Select({.group = "entries"}).size(), 2u);
  EXPECT_EQ(Some().Select({.name = "main", .group = "entries"}).size(), 1u);
  EXPECT_EQ(Some().Select({.module = "mod", .attr = "main"}).size(), 2u);
  EXPECT_EQ(Some().Select({.attr = ""}).size(), 1u);
  EXPECT_TRUE(Some().Select({.group = "missing"}).empty());
}

TEST(EntryPoints, ExtrasMatchAsAnExactList) {
  const std::vector<std::string> both = {"x", "y"};
  EXPECT_EQ(Some().Select({.extras = both}).size(), 1u);
  EXPECT_TRUE(Some().Select({.extras = {{"y", "x"}}}).empty());
  EXPECT_EQ(Some().Select({.extras = std::vector<std::string>()}).size(), 2u);
}

TEST(EntryPoints, DistributionMatchesInAnySpelling) {
  EXPECT_EQ(Some().Select({.distribution = "DistInfo_pkg"}).size(), 2u);
  EXPECT_EQ(Some().Select({.distribution = "other-pkg"}).size(), 1u);
}

TEST(EntryPoints, NamesAndGroupsAreSets) {
  EXPECT_EQ(Some().Names(), (std::set<std::string>{"main", "ns:sub"}));
  EXPECT_EQ(Some().Groups(),
            (std::set<std::string>{"entries", "more.entries"}));
}

TEST(EntryPoints, NamedGivesTheFirstOrTheNamesThatThereAre) {
  EXPECT_EQ(Some().Named("main")->value, "mod:main");
  EXPECT_EQ(Some().Named("ns:sub")->value, "mod:main [x, y]");
  const auto missing = Some().Named("missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), Code::kNotFound);
  EXPECT_NE(missing.error().message().find("main, ns:sub"), std::string::npos);
}

TEST(EntryPoint, EqualityAndOrderIgnoreWhereItComesFrom) {
  EntryPoint a{.name = "n", .value = "v", .group = "g", .version = "1"};
  EntryPoint b{.name = "n", .value = "v", .group = "g", .version = "2"};
  EXPECT_EQ(a, b);
  b.name = "o";
  EXPECT_LT(a, b);
}

// Names are compared in normalized form; on disk "_" stands for "-".
TEST(NormalizedName, IsOneForAllSpellings) {
  for (const char* name : {"sample", "Sample", "SAMPLE", "SaMpLe"}) {
    EXPECT_EQ(NormalizedName(name), "sample");
  }
  for (const char* name :
       {"sample-pkg", "sample.pkg", "sample_pkg", "sample---pkg",
        "sample___pkg", "sample...pkg", "sample-._pkg", "sample_.-pkg",
        "SAMPLE-PKG", "Sample.Pkg", "SAMPLE_PKG"}) {
    EXPECT_EQ(NormalizedName(name), "sample-pkg");
  }
  for (const char* name : {"Sample__Pkg-name.foo", "Sample__Pkg.name__foo"}) {
    EXPECT_EQ(NormalizedName(name), "sample-pkg-name-foo");
  }
}

}  // namespace
}  // namespace bulkhead
