// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/distribution.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::discovery {
namespace {

class DistributionTest : public ::testing::Test {
 protected:
  Result<Distribution> Read(const std::string& folder) {
    const ipc::UniqueFd directory = tree_.Open();
    Result<Distribution> read =
        ReadDistribution(directory.get(), tree_.path(), folder,
                         /*plain=*/false, diagnostics_);
    if (read) {
      ReadMetadata(directory.get(), /*plain=*/false, *read, diagnostics_);
    }
    return read;
  }
  std::optional<std::vector<RecordedFile>> Record(const std::string& text) {
    tree_.Write("a-1.dist-info/RECORD", text);
    Distribution distribution;
    distribution.directory = tree_.path();
    distribution.dist_info = "a-1.dist-info";
    return ReadRecord(tree_.Open().get(), distribution, diagnostics_).value();
  }

  TemporaryTree tree_;
  Diagnostics diagnostics_;
};

TEST(NormalizedNameTest, FollowsPep503) {
  for (const char* name : {"sample", "Sample", "SAMPLE", "SaMpLe"}) {
    EXPECT_EQ(NormalizedName(name), "sample");
  }
  for (const char* name :
       {"sample-pkg", "sample.pkg", "sample_pkg", "sample---pkg",
        "sample___pkg", "sample...pkg", "sample-._pkg", "sample_.-pkg",
        "SAMPLE-PKG", "Sample.Pkg", "SAMPLE_PKG"}) {
    EXPECT_EQ(NormalizedName(name), "sample-pkg");
  }
  EXPECT_EQ(NormalizedName("Sample__Pkg-name.foo"), "sample-pkg-name-foo");
  EXPECT_EQ(NormalizedName("Sample__Pkg.name__foo"), "sample-pkg-name-foo");
}

TEST(FolderNameTest, SplitsAtTheLastDash) {
  const auto parsed = ParseFolderName("foo-bar-1.0.dist-info");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->name, "foo-bar");
  EXPECT_EQ(parsed->version, "1.0");
  EXPECT_EQ(ParseFolderName("foo.dist-info")->version, "");
  for (const char* bad :
       {".dist-info", "-1.0.dist-info", "~oo-1.0.dist-info", "foo-1.0",
        "foo-\xff.dist-info", "f o-1.dist-info", "foo-1 0.dist-info",
        "foo-1\n.dist-info", "foo-\x7f.dist-info", "foo-1.0.DIST-INFO"}) {
    EXPECT_FALSE(ParseFolderName(bad)) << bad;
  }
}

TEST_F(DistributionTest, MetadataNamesTheDistribution) {
  tree_.WriteDistribution("foo_bar-1.0.dist-info", "Foo.Bar", "1.0.0",
                          "[g]\na = m:x\n");
  const Result<Distribution> got = Read("foo_bar-1.0.dist-info");
  ASSERT_TRUE(got) << got.error();
  EXPECT_EQ(got->name, "Foo.Bar");
  EXPECT_EQ(got->version, "1.0.0");
  EXPECT_EQ(got->normalized_name, "foo-bar");
  ASSERT_EQ(got->entry_points.size(), 1u);
  EXPECT_EQ(got->entry_points[0].distribution, "Foo.Bar");
  EXPECT_EQ(got->entry_points[0].file,
            tree_ / "foo_bar-1.0.dist-info/entry_points.txt");
  EXPECT_TRUE(diagnostics_.empty());
}

TEST_F(DistributionTest, TheFolderNamesItWhereMetadataDoesNot) {
  tree_.Write("foo-1.0.dist-info/entry_points.txt", "[g]\na = m:x\n");
  const Result<Distribution> got = Read("foo-1.0.dist-info");
  ASSERT_TRUE(got);
  EXPECT_FALSE(got->has_metadata);
  EXPECT_EQ(got->name, "foo");
  EXPECT_EQ(got->version, "1.0");
  EXPECT_EQ(got->entry_points.size(), 1u);
  EXPECT_EQ(diagnostics_.size(), 1u);

  tree_.Write("bar-1.0.dist-info/METADATA", "Name: ../x\n\nName: late\n");
  EXPECT_EQ(Read("bar-1.0.dist-info")->name, "bar");
  EXPECT_EQ(diagnostics_.size(), 3u);
}

// Each entry point has a copy of both.
TEST_F(DistributionTest, NamesAndVersionsAreBounded) {
  const std::string dashes(300, '-');
  tree_.WriteDistribution("foo_bar-1.0.dist-info", "foo" + dashes + "bar",
                          "1" + std::string(300, '0'), "[g]\na = m:x\n");
  const Result<Distribution> got = Read("foo_bar-1.0.dist-info");
  ASSERT_TRUE(got) << got.error();
  EXPECT_EQ(got->name, "foo_bar");
  EXPECT_EQ(got->version, "1.0");
  EXPECT_EQ(diagnostics_.size(), 2u);
}

TEST_F(DistributionTest, AnotherPackagesMetadataDoesNotRename) {
  tree_.WriteDistribution("foo-1.0.dist-info", "bar", "2.0", "[g]\na = m:x\n");
  const Result<Distribution> got = Read("foo-1.0.dist-info");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->name, "foo");
  EXPECT_EQ(got->version, "1.0");
  EXPECT_EQ(got->normalized_name, "foo");
  EXPECT_FALSE(got->has_metadata);
  EXPECT_EQ(got->entry_points[0].distribution, "foo");
  ASSERT_EQ(diagnostics_.size(), 1u);
  EXPECT_EQ(diagnostics_[0].file, tree_ / "foo-1.0.dist-info/METADATA");
}

TEST_F(DistributionTest, MetadataIsItsHeadersInAnySpelling) {
  const struct {
    std::string metadata;
    const char* version;
    size_t problems;
  } kCases[] = {
      {"Name: foo\nVersion: 3\n", "3", 0},
      {"Name: foo\nVersion: 3", "3", 0},
      {"Name: foo\r\nVersion: 3\r\n\r\nVersion: 4\r\n", "3", 0},
      {"\xef\xbb\xbfName: foo\nVersion: 3\n", "3", 0},
      {"NAME:foo\nvErsion :4\nversion:3\n", "3", 0},
      {"Version: 3\nVersion: 4\nName: Foo\n", "3", 0},
      {"Name: foo\nVersion: 2004d\n", "2004d", 0},
      {"Name: foo\nVersion: 3\n\n" + std::string(500000, 'x'), "3", 0},
      {"Name: foo\n" + std::string(100000, 'K') + ": v\nVersion: 3\n", "3", 0},
      {"Name: foo\n\nVersion: 3\n", "1.0", 1},
      {"Name: foo\nVersion:\n", "1.0", 1},
      {"Name: foo\nVersion: 3 4\n", "1.0", 1},
      {"Name: foo\nVersion: \xff\n", "1.0", 1},
      {std::string("Name: foo\nVersion: 3\0\n", 22), "1.0", 1},
      {"Name: f\xff\nVersion: 3\n", "3", 1},
      {"Name: foo\x1b[31m\nVersion: 3\n", "3", 1},
      {"", "1.0", 2},
      {std::string(100, '\0'), "1.0", 2},
  };
  for (const auto& test : kCases) {
    diagnostics_.clear();
    tree_.Write("foo-1.0.dist-info/METADATA", test.metadata);
    const Result<Distribution> got = Read("foo-1.0.dist-info");
    ASSERT_TRUE(got);
    EXPECT_EQ(got->version, test.version) << test.metadata.substr(0, 60);
    EXPECT_EQ(got->normalized_name, "foo");
    EXPECT_EQ(diagnostics_.size(), test.problems)
        << test.metadata.substr(0, 60);
  }
}

TEST_F(DistributionTest, ABadFileCostsThatFileOnly) {
  tree_.WriteDistribution("foo-1.dist-info", "foo", "1");
  ASSERT_EQ(mkfifo((tree_ / "foo-1.dist-info/entry_points.txt").c_str(), 0600),
            0);
  const Result<Distribution> got = Read("foo-1.dist-info");
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->entry_points.empty());
  ASSERT_EQ(diagnostics_.size(), 1u);
  EXPECT_EQ(diagnostics_[0].severity, Diagnostic::Severity::kError);
}

TEST_F(DistributionTest, WhatIsNoDirectoryIsNoDistribution) {
  tree_.Write("foo-1.dist-info", "");
  EXPECT_FALSE(Read("foo-1.dist-info"));
  EXPECT_FALSE(Read("gone-1.dist-info"));
  std::filesystem::create_symlink("/etc", tree_ / "out-1.dist-info");
  EXPECT_FALSE(Read("out-1.dist-info"));
}

TEST_F(DistributionTest, RecordListsOnlyWhatIsBelowTheDirectory) {
  const auto files = Record(
      "a/x.so,sha256=abc,20\r\n"
      "\"a/with,comma \"\"q\"\".so\",,\n"
      "./a//y.so,,\n"
      "../../bin/tool,,\n"
      "a/../../../etc/passwd,,\n"
      "/etc/passwd,,\n"
      "\"open,,\n"
      "\n"
      "a-1.dist-info/RECORD,,");
  ASSERT_TRUE(files);
  const std::vector<RecordedFile> expected = {{"a/x.so", "sha256=abc"},
                                              {"a/with,comma \"q\".so", ""},
                                              {"a/y.so", ""},
                                              {"a-1.dist-info/RECORD", ""}};
  EXPECT_EQ(*files, expected);
  EXPECT_EQ(diagnostics_.size(), 4u);
}

TEST_F(DistributionTest, OfARecordFullOfErrorsTheFirstAreTold) {
  std::string lines;
  for (int line = 0; line < 1'000; ++line) lines += "../x,,\n";
  const auto files = Record(lines + "a/x.so,,\n");
  ASSERT_TRUE(files);
  EXPECT_EQ(files->size(), 1u);
  EXPECT_EQ(diagnostics_.size(), 20u);
}

TEST_F(DistributionTest, RecordKeepsHashesOfFilesThatAreMissing) {
  const auto files = Record("mod.py,sha256=abc,20\nodd.py,md5\n");
  ASSERT_TRUE(files);
  const std::vector<RecordedFile> expected = {{"mod.py", "sha256=abc"},
                                              {"odd.py", "md5"}};
  EXPECT_EQ(*files, expected);
  EXPECT_TRUE(diagnostics_.empty());
}

TEST_F(DistributionTest, NoRecordIsNotAnEmptyOne) {
  EXPECT_EQ(Record("")->size(), 0u);
  std::filesystem::remove(tree_ / "a-1.dist-info/RECORD");
  Distribution distribution;
  distribution.dist_info = "a-1.dist-info";
  const auto missing =
      ReadRecord(tree_.Open().get(), distribution, diagnostics_);
  ASSERT_TRUE(missing);
  EXPECT_FALSE(*missing);
  std::filesystem::create_symlink("RECORD", tree_ / "a-1.dist-info/RECORD");
  EXPECT_FALSE(ReadRecord(tree_.Open().get(), distribution, diagnostics_));
}

}  // namespace
}  // namespace bulkhead::discovery
