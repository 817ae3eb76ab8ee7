// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/scan.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/discovery/temporary_tree.h"

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

TEST(ScanTest, ABadDistributionNeverHidesAGoodOne) {
  const TemporaryTree tree;
  for (int i = 0; i < 50; ++i) {
    const std::string name = "good" + std::to_string(i);
    tree.WriteDistribution(name + "-1.dist-info", name, "1", "[g]\na = m:x\n");
  }
  tree.Write("file-1.dist-info", "");
  tree.Write("~oo-1.dist-info/METADATA", "Name: foo\n");
  tree.Write("-1.0.dist-info/METADATA", "Name: foo\n");
  tree.Write(".dist-info/METADATA", "Name: foo\n");
  tree.Write("sp ace-1.dist-info/METADATA", "Name: foo\n");
  std::filesystem::create_symlink("loop-1.dist-info",
                                  tree / "loop-1.dist-info");
  std::filesystem::create_symlink("/etc", tree / "out-1.dist-info");
  ASSERT_EQ(mkfifo((tree / "fifo-1.dist-info").c_str(), 0600), 0);

  const Scan scan = ScanPluginPath({{tree.path(), "t"}});
  EXPECT_EQ(scan.distributions.size(), 50u);
  for (const char* bad :
       {"file-1.dist-info", "~oo-1.dist-info", "-1.0.dist-info", ".dist-info",
        "sp ace-1.dist-info", "loop-1.dist-info", "out-1.dist-info",
        "fifo-1.dist-info"}) {
    EXPECT_TRUE(Mentions(scan, tree / bad)) << bad;
  }
  EXPECT_EQ(scan.diagnostics.size(), 8u);
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
