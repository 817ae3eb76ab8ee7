// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/scan.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::discovery {
namespace {

std::string Names(const Scan& scan) {
  std::string names;
  for (const Distribution& distribution : scan.distributions) {
    names += distribution.name + " " + distribution.version + ";";
  }
  return names;
}

bool Mentions(const Scan& scan, const std::string& file) {
  for (const Diagnostic& diagnostic : scan.diagnostics) {
    if (diagnostic.file == file) return true;
  }
  return false;
}

TEST(ScanTest, ByteOrderWithinADirectoryPathOrderBetween) {
  const TemporaryTree a, b;
  a.WriteDistribution("z-1.dist-info", "z", "1");
  a.WriteDistribution("b-1.dist-info", "b", "1");
  a.WriteDistribution("C-1.dist-info", "C", "1");
  b.WriteDistribution("a-1.dist-info", "a", "1");
  const Scan scan = ScanPluginPath({{a.path(), "t"}, {b.path(), "t"}});
  EXPECT_EQ(Names(scan), "C 1;b 1;z 1;a 1;");
  EXPECT_EQ(scan.distributions[3].place, 1u);
  EXPECT_TRUE(scan.diagnostics.empty());
}

TEST(ScanTest, TheFirstDirectoryShadowsTheOthers) {
  const TemporaryTree a, b;
  a.WriteDistribution("Foo_Bar-1.0.dist-info", "Foo_Bar", "1.0");
  b.WriteDistribution("foo.bar-2.0.dist-info", "foo.bar", "2.0");
  const Scan scan = ScanPluginPath({{a.path(), "t"}, {b.path(), "t"}});
  EXPECT_EQ(Names(scan), "Foo_Bar 1.0;");
  EXPECT_TRUE(Mentions(scan, b / "foo.bar-2.0.dist-info"));
}

TEST(ScanTest, TheHighestVersionWithMetadataWinsWithinADirectory) {
  const TemporaryTree tree;
  tree.WriteDistribution("foo-1.9.dist-info", "foo", "1.9");
  tree.WriteDistribution("foo-1.10.dist-info", "foo", "1.10");
  tree.WriteDistribution("foo-1.10rc1.dist-info", "foo", "1.10rc1");
  std::filesystem::create_directory(tree / "foo-2.0.dist-info");
  const Scan scan = ScanPluginPath({{tree.path(), "t"}});
  EXPECT_EQ(Names(scan), "foo 1.10;");
  for (const char* loser : {"1.9", "1.10rc1", "2.0"}) {
    EXPECT_TRUE(
        Mentions(scan, tree / ("foo-" + std::string(loser) + ".dist-info")))
        << loser;
  }
}

TEST(ScanTest, NamesThatShareAPrefixAreDifferent) {
  const TemporaryTree tree;
  tree.Write("foo-bar-1.0.dist-info/METADATA", "Name: foo-bar\nVersion: 1.0\n");
  tree.Write("foo-baz-1.0.dist-info/METADATA", "Name: foo-baz\nVersion: 1.0\n");
  EXPECT_EQ(Names(ScanPluginPath({{tree.path(), "t"}})),
            "foo-bar 1.0;foo-baz 1.0;");
}

TEST(ScanTest, AnEmptyOrForeignMetadataDoesNotMakeAVersionCount) {
  const TemporaryTree tree;
  tree.Write("foo-4.0.dist-info/METADATA", "");
  tree.WriteDistribution("foo-4.1.dist-info", "foo", "4.1");
  std::filesystem::create_directory(tree / "foo-4.2.dist-info");
  tree.WriteDistribution("foo-4.3.dist-info", "bar", "4.3");
  for (const char* group : {"", "some.group"}) {
    EXPECT_EQ(Names(ScanPluginPath({{tree.path(), "t"}}, {.group = group})),
              "foo 4.1;");
  }
}

TEST(ScanTest, EverySpellingOfANameIsOneDistribution) {
  for (const char* folder :
       {"pkg.dot-1.dist-info", "pkg_dot-1.dist-info", "pkg-dot-1.dist-info",
        "pkg..dot-1.dist-info", "Pkg.Dot-1.dist-info", "PKG_-.DOT-1.dist-info",
        "pkg_dot.dist-info"}) {
    const TemporaryTree a, b;
    a.Write(std::string(folder) + "/entry_points.txt", "[g]\na = m:x\n");
    b.WriteDistribution("pkg.dot-2.dist-info", "pkg.dot", "2");
    b.WriteDistribution("p-2.dist-info", "p", "2");
    b.WriteDistribution("pkg-2.dist-info", "pkg", "2");
    const Scan scan = ScanPluginPath({{a.path(), "t"}, {b.path(), "t"}});
    ASSERT_EQ(scan.distributions.size(), 3u) << folder;
    EXPECT_EQ(scan.distributions[0].normalized_name, NormalizedName("pkg.dot"));
    EXPECT_EQ(scan.distributions[0].entry_points.size(), 1u);
    EXPECT_EQ(scan.distributions[1].name, "p");
    EXPECT_EQ(scan.distributions[2].name, "pkg");
    EXPECT_TRUE(Mentions(scan, b / "pkg.dot-2.dist-info"));
  }
}

TEST(ScanTest, AShadowedDistributionGivesNoEntryPoints) {
  const TemporaryTree earlier, later;
  earlier.WriteDistribution("DistInfo_pkg-1.1.0.dist-info", "distinfo-pkg",
                            "1.1.0", "[entries]\nmain = mod:altmain\n");
  later.WriteDistribution("distinfo_pkg-1.0.0.dist-info", "distinfo-pkg",
                          "1.0.0",
                          "[entries]\nmain = mod:main\nns:sub = mod:main");
  const Scan scan =
      ScanPluginPath({{earlier.path(), "t"}, {later.path(), "t"}});
  ASSERT_EQ(scan.distributions.size(), 1u);
  ASSERT_EQ(scan.distributions[0].entry_points.size(), 1u);
  EXPECT_EQ(scan.distributions[0].entry_points[0].value, "mod:altmain");
  EXPECT_EQ(Names(ScanPluginPath({{later.path(), "t"}, {earlier.path(), "t"}})),
            "distinfo-pkg 1.0.0;");
}

// One folder for each case: what is used of it, and whether it is reported.
TEST(ScanTest, FoldersCountOrAreExplained) {
  const struct {
    const char* folder;
    const char* counts;  // The name and version that are used.
    bool reported;
  } kCases[] = {
      {"my_pkg.dist-info", "my_pkg ;", true},  // No METADATA.
      {"CherryPy-1.0.dist-info", "CherryPy 1.0;", true},
      {"foo-bar-1.0.dist-info", "foo-bar 1.0;", true},
      {"FOO-1.0.DIST-INFO", "", true},
      {"Foo-1.0.Dist-Info", "", true},
      {"~oo-1.0.dist-info", "", true},
      {"-1.0.dist-info", "", true},
      {".dist-info", "", true},
      {"foo-\xff.dist-info", "", true},
      {"f\xc3\xb6\xc3\xb6-1.0.dist-info", "", true},
      {"foo\n-1.0.dist-info", "", true},
      {"foo-3.6.egg", "", false},
      {"EGG-INFO", "", false},
      {"foo-1.0", "", false},
  };
  for (const auto& test : kCases) {
    const TemporaryTree tree;
    tree.Write(std::string(test.folder) + "/entry_points.txt",
               "[g]\na = m:x\n");
    const Scan scan = ScanPluginPath({{tree.path(), "t"}});
    EXPECT_EQ(Names(scan), test.counts) << test.folder;
    EXPECT_EQ(scan.diagnostics.size(), test.reported ? 1u : 0u) << test.folder;
    for (const Diagnostic& diagnostic : scan.diagnostics) {
      EXPECT_TRUE(diagnostic.file.starts_with(tree / test.folder));
    }
    for (const Distribution& distribution : scan.distributions) {
      EXPECT_EQ(distribution.entry_points.size(), 1u) << test.folder;
    }
  }
}

TEST(ScanTest, EggInfosAreNotReadAndOneNoteSaysSo) {
  const TemporaryTree tree;
  tree.Write("b.egg-info/entry_points.txt", "[g]\na = m:x\n");
  tree.Write("a.egg-info/PKG-INFO", "Name: a\n");
  tree.Write("c.egg-info", "a file");
  const Scan scan = ScanPluginPath({{tree.path(), "t"}});
  EXPECT_TRUE(scan.distributions.empty());
  ASSERT_EQ(scan.diagnostics.size(), 1u);
  EXPECT_EQ(scan.diagnostics[0].severity, Diagnostic::Severity::kNote);
  EXPECT_NE(scan.diagnostics[0].message.find("3 ending in .egg-info, such as "
                                             "\"a.egg-info\""),
            std::string::npos);
}

TEST(ScanTest, ALinkedFolderIsOfTheNameThatItHas) {
  const TemporaryTree tree;
  tree.WriteDistribution("foo-1.dist-info", "foo", "1", "[g]\na = m:x\n");
  tree.Link("foo-1.dist-info", "alias-1.dist-info");
  const Scan scan = ScanPluginPath({{tree.path(), "t"}});
  EXPECT_EQ(Names(scan), "alias 1;foo 1;");
  ASSERT_EQ(scan.diagnostics.size(), 1u);
  EXPECT_EQ(scan.diagnostics[0].file, tree / "alias-1.dist-info/METADATA");
}

TEST(ScanTest, OneNameInTwoDistributionsIsTwoEntryPoints) {
  const TemporaryTree tree;
  tree.WriteDistribution("a-1.dist-info", "a", "1", "[g]\nn = a:x\n");
  tree.WriteDistribution("b-1.dist-info", "b", "1", "[g]\nn = b:x\n");
  const Scan scan = ScanPluginPath({{tree.path(), "t"}});
  ASSERT_EQ(scan.distributions.size(), 2u);
  EXPECT_EQ(scan.distributions[0].entry_points[0].value, "a:x");
  EXPECT_EQ(scan.distributions[1].entry_points[0].value, "b:x");
}

TEST(ScanTest, DirectoriesMayHaveAnyName) {
  const TemporaryTree tree;
  for (const char* name : {"\xe2\x98\x83 snow", "not utf-8 \xff", "a\nb"}) {
    tree.WriteDistribution(std::string(name) + "/a-1.dist-info", "a", "1");
    EXPECT_EQ(Names(ScanPluginPath({{tree / name, "t"}})), "a 1;");
  }
}

TEST(ScanTest, AGroupSavesTheMetadataOfOthersOnly) {
  const TemporaryTree tree;
  const std::string entry_points = "[wanted]\na = m:x\n[o]\nb = m:x\n";
  tree.WriteDistribution("has_it-1.dist-info", "Has.It", "1.0", entry_points);
  tree.WriteDistribution("lacks_it-1.dist-info", "Lacks.It", "1.0",
                         "[o]\nb = m:x\nnonsense\n");
  tree.WriteDistribution("two-1.dist-info", "Two", "1.0");
  tree.WriteDistribution("two-2.dist-info", "TWO", "2.0");
  tree.Write("no_metadata-1.dist-info/entry_points.txt", entry_points);
  tree.Write("nothing-1.dist-info/RECORD", "");
  const Scan scan = ScanPluginPath({{tree.path(), "t"}}, {.group = "wanted"});
  EXPECT_EQ(Names(scan),
            "Has.It 1.0;lacks_it 1;no_metadata 1;nothing 1;TWO 2.0;");
  ASSERT_EQ(scan.distributions[0].entry_points.size(), 1u);
  EXPECT_EQ(scan.distributions[0].entry_points[0].distribution, "Has.It");
  EXPECT_EQ(scan.distributions[0].entry_points[0].version, "1.0");
  EXPECT_TRUE(Mentions(scan, tree / "no_metadata-1.dist-info/METADATA"));
  EXPECT_TRUE(Mentions(scan, tree / "two-1.dist-info"));
  EXPECT_EQ(scan.diagnostics.size(), 2u);
}

TEST(ScanTest, EachPlaceSaysWhatCameOfIt) {
  const TemporaryTree tree;
  tree.WriteDistribution("a-1.dist-info", "a", "1");
  tree.Write("file", "");
  std::filesystem::create_symlink(".", tree / "again");
  const Scan scan = ScanPluginPath({{tree.path(), "t"},
                                    {tree / "again", "t"},
                                    {tree / "missing", "t"},
                                    {tree / "file", "t"}});
  ASSERT_EQ(scan.places.size(), 4u);
  EXPECT_EQ(scan.places[0].outcome, "1 distribution");
  EXPECT_EQ(scan.places[1].outcome, "the same directory as " + tree.path());
  EXPECT_EQ(scan.places[2].outcome, "does not exist");
  EXPECT_EQ(scan.places[3].outcome, "cannot be searched: Not a directory");
  EXPECT_EQ(scan.distributions.size(), 1u);
}

}  // namespace
}  // namespace bulkhead::discovery
