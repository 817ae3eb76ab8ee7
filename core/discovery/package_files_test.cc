// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/package_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::discovery {
namespace {

using Paths = std::vector<std::string>;

constexpr char kHashOfData[] =
    "sha256=Om6weQ85rIfJTzhWst0sXREOaBFgImGpqSPTuyOtyLc";
constexpr char kHashOfOther[] =
    "sha256=2SmKENGwc1g33EvYXaxkGw887yekfl1TpU8vP1svz_o";

// A distribution "acme" with the object acme/libp.so.
class PackageFilesTest : public testing::Test {
 protected:
  PackageFilesTest() {
    acme_.directory = tree_.path();
    acme_.dist_info = "acme-1.0.dist-info";
    acme_.normalized_name = "acme";
    tree_.Write("acme-1.0.dist-info/METADATA", "");
    tree_.Write("acme/libp.so", "object");
    chmod((tree_ / "acme").c_str(), 0755);
    chmod((tree_ / "acme/libp.so").c_str(), 0644);
  }

  // Writes a file that everybody may read.
  void WriteOpen(const std::string& below) {
    tree_.Write(below, "data");
    chmod((tree_ / below).c_str(), 0644);
  }

  Result<Paths> Shown(const std::optional<Paths>& rows,
                      const std::string& plugin = "acme/libp.so") {
    const std::string record = acme_.dist_info + "/RECORD";
    tree_.Remove(record);
    if (rows) {
      std::string text;
      for (const std::string& row : *rows) {
        text += row + "," + hashes_[row] + ",\n";
      }
      tree_.Write(record, text);
    }
    struct stat object = {};
    EXPECT_EQ(stat((tree_ / plugin).c_str(), &object), 0);
    const ipc::UniqueFd directory = tree_.Open();
    PackageFiles files(directory.get(), acme_, plugin, object);
    for (steps_ = 1; !files.Step(); ++steps_) {
    }
    const auto shown = files.Take();
    diagnostics_ = files.diagnostics();
    if (!shown) return shown.error();
    Paths paths;
    for (const PackageFile& file : *shown) paths.push_back(file.path);
    return paths;
  }

  // Expects that `row` is refused with one diagnostic that contains `why`.
  void ExpectRefused(const std::string& row, const std::string& why) {
    EXPECT_EQ(Shown(Paths{"acme/libp.so", row}).value(), Paths{"acme/libp.so"})
        << row;
    ASSERT_EQ(diagnostics_.size(), 1u) << row;
    EXPECT_NE(diagnostics_[0].message.find(why), std::string::npos)
        << diagnostics_[0].message;
    EXPECT_NE(diagnostics_[0].message.find(row), std::string::npos)
        << diagnostics_[0].message;
    EXPECT_TRUE(diagnostics_[0].file.ends_with("/RECORD"));
  }

  TemporaryTree tree_;
  Distribution acme_;
  std::map<std::string, std::string> hashes_;  // of RECORD, by path
  Diagnostics diagnostics_;
  size_t steps_ = 0;  // that the last Shown() took
};

TEST_F(PackageFilesTest, RegularFilesOfRecordAreShown) {
  WriteOpen("acme/model.bin");
  WriteOpen("top.txt");
  hashes_ = {{"top.txt", kHashOfData}};
  EXPECT_EQ(Shown(Paths{"top.txt", "acme/model.bin", "acme/libp.so", "top.txt"})
                .value(),
            (Paths{"acme/libp.so", "acme/model.bin", "top.txt"}));
  EXPECT_TRUE(diagnostics_.empty());
}

TEST_F(PackageFilesTest, RecordHasToListTheObject) {
  WriteOpen("acme/model.bin");
  EXPECT_EQ(Shown(Paths{"acme/model.bin"}).error().code(), Code::kNotFound);
}

TEST_F(PackageFilesTest, AMissingFileIsLeftToTheStart) {
  EXPECT_EQ(Shown(Paths{"acme/libp.so", "acme/gone"}).value(),
            (Paths{"acme/gone", "acme/libp.so"}));
}

TEST_F(PackageFilesTest, ALinkIsRefused) {
  tree_.Link("/etc/passwd", "acme/passwd");
  ExpectRefused("acme/passwd", "is a symbolic link");
  // Also a link that stays below the directory.
  tree_.Link("libp.so", "acme/libq.so");
  ExpectRefused("acme/libq.so", "is a symbolic link");
}

TEST_F(PackageFilesTest, AFileBehindALinkedFolderIsRefused) {
  tree_.Link("/etc", "acme/etc");
  ExpectRefused("acme/etc/passwd", "through the symbolic link \"acme/etc\"");
}

TEST_F(PackageFilesTest, AFolderAndAFifoAreRefused) {
  WriteOpen("acme/data/inside");
  ExpectRefused("acme/data", "is not a regular file");
  ASSERT_EQ(mkfifo((tree_ / "acme/fifo").c_str(), 0644), 0);
  ExpectRefused("acme/fifo", "is not a regular file");
}

TEST_F(PackageFilesTest, AFileForFewerReadersIsRefused) {
  WriteOpen("acme/secret");
  chmod((tree_ / "acme/secret").c_str(), 0600);
  ExpectRefused("acme/secret", "may be read by fewer users");
}

TEST_F(PackageFilesTest, AFileInAFolderForFewerUsersIsRefused) {
  WriteOpen("private/key");
  chmod((tree_ / "private").c_str(), 0700);
  ExpectRefused("private/key", "may be entered by fewer users");
}

TEST_F(PackageFilesTest, APrivateInstallationShowsItsPrivateFiles) {
  WriteOpen("acme/model.bin");
  chmod((tree_ / "acme").c_str(), 0700);
  chmod((tree_ / "acme/libp.so").c_str(), 0600);
  chmod((tree_ / "acme/model.bin").c_str(), 0600);
  WriteOpen("acme/diary");
  chmod((tree_ / "acme/diary").c_str(), 0600);
  // Without a hash nothing sets the package's files apart from the user's.
  ExpectRefused("acme/diary", "RECORD does not have its hash");
  hashes_ = {{"acme/model.bin", kHashOfData}, {"acme/diary", kHashOfOther}};
  EXPECT_EQ(
      Shown(Paths{"acme/libp.so", "acme/diary", "acme/model.bin"}).value(),
      (Paths{"acme/libp.so", "acme/model.bin"}));
  EXPECT_EQ(diagnostics_.size(), 1u);
}

TEST_F(PackageFilesTest, AFileOutsideOfTheFolderNeedsItsHash) {
  WriteOpen("acme.libs/libdep.so");
  ExpectRefused("acme.libs/libdep.so", "RECORD does not have its hash");
  hashes_ = {{"acme.libs/libdep.so", kHashOfOther}};
  ExpectRefused("acme.libs/libdep.so", "RECORD does not have its hash");
  hashes_ = {{"acme.libs/libdep.so", kHashOfData}};
  EXPECT_EQ(Shown(Paths{"acme/libp.so", "acme.libs/libdep.so"}).value().size(),
            2u);
  EXPECT_TRUE(diagnostics_.empty());
}

TEST_F(PackageFilesTest, AFileWithFurtherNamesNeedsItsHash) {
  WriteOpen("elsewhere");
  std::filesystem::create_hard_link((tree_ / "elsewhere"),
                                    (tree_ / "acme/model.bin"));
  ExpectRefused("acme/model.bin", "has further names (hard links)");
  hashes_ = {{"acme/model.bin", kHashOfData}};
  EXPECT_EQ(Shown(Paths{"acme/libp.so", "acme/model.bin"}).value().size(), 2u);
}

TEST_F(PackageFilesTest, AFileOfAnotherOwnerIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  WriteOpen("acme/other");
  ASSERT_EQ(chown((tree_ / "acme/other").c_str(), 1234, 1234), 0);
  ExpectRefused("acme/other", "does not belong to the owner");
  WriteOpen("theirs/file");
  ASSERT_EQ(chown((tree_ / "theirs").c_str(), 1234, 1234), 0);
  ExpectRefused("theirs/file", "does not belong to the owner");
}

TEST_F(PackageFilesTest, AFileOfAnotherDistributionIsRefused) {
  WriteOpen("victim/model.bin");
  tree_.Write("victim-2.0.dist-info/RECORD", "victim/model.bin,,\n");
  ExpectRefused("victim/model.bin",
                "named by the RECORD of victim-2.0.dist-info");
}

TEST_F(PackageFilesTest, AnotherVersionIsTheSameDistribution) {
  WriteOpen("acme/model.bin");
  tree_.Write("Acme-0.9.dist-info/RECORD", "acme/model.bin,,\n");
  EXPECT_EQ(Shown(Paths{"acme/libp.so", "acme/model.bin"}).value().size(), 2u);
}

TEST_F(PackageFilesTest, NobodyTakesTheObjectAwayByNamingIt) {
  tree_.Write("thief-1.0.dist-info/RECORD", "acme/libp.so,,\n");
  EXPECT_EQ(Shown(Paths{"acme/libp.so"}).value(), Paths{"acme/libp.so"});
}

TEST_F(PackageFilesTest, TheObjectItselfIsNoLink) {
  tree_.Link("libp.so", "acme/libq.so");
  EXPECT_EQ(Shown(Paths{"acme/libq.so"}, "acme/libq.so").error().code(),
            Code::kInvalidArgument);
}

TEST_F(PackageFilesTest, WithoutARecordTheFolderOfTheObjectIsShown) {
  WriteOpen("acme/deep/model.bin");
  WriteOpen("beside.txt");
  tree_.Link("/etc/passwd", "acme/passwd");
  WriteOpen("acme/secret");
  chmod((tree_ / "acme/secret").c_str(), 0600);
  WriteOpen("acme/theirs");
  tree_.Write("other-1.0.dist-info/RECORD", "acme/theirs,,\n");
  EXPECT_EQ(Shown(std::nullopt).value(),
            (Paths{"acme/deep/model.bin", "acme/libp.so"}));
  EXPECT_EQ(diagnostics_.size(), 3u);
}

TEST_F(PackageFilesTest, WithoutARecordAnObjectWithoutFolderIsAlone) {
  WriteOpen("libtop.so");
  EXPECT_EQ(Shown(std::nullopt, "libtop.so").value(), Paths{"libtop.so"});
}

TEST_F(PackageFilesTest, AFolderWithoutARecordIsBounded) {
  for (size_t i = 0; i <= PackageFiles::kMaxUnrecorded; ++i) {
    WriteOpen("acme/files/" + std::to_string(i));
  }
  EXPECT_EQ(Shown(std::nullopt).error().code(), Code::kResourceExhausted);
}

TEST_F(PackageFilesTest, TwoWithoutARecordInOneFolderSeeTheirObjectsAlone) {
  WriteOpen("acme/model.bin");
  tree_.WriteDistribution("other-1.0.dist-info", "other", "1.0",
                          "[bulkhead.backends]\nother = acme.other:entry\n");
  WriteOpen("acme/libother.so");
  EXPECT_EQ(Shown(std::nullopt).value(), Paths{"acme/libp.so"});
  ASSERT_EQ(diagnostics_.size(), 1u);
  EXPECT_NE(diagnostics_[0].message.find("other-1.0.dist-info"),
            std::string::npos);
  // Elsewhere, nothing of the other's is in reach.
  tree_.Write("other-1.0.dist-info/entry_points.txt",
              "[bulkhead.backends]\nother = acme2.other:entry\n");
  EXPECT_EQ(Shown(std::nullopt).value(),
            (Paths{"acme/libother.so", "acme/libp.so", "acme/model.bin"}));
}

TEST_F(PackageFilesTest, AFolderThatIsCalledAsAnotherWithoutRecordIsShared) {
  WriteOpen("acme/model.bin");
  acme_.dist_info = "evil-1.0.dist-info";
  acme_.normalized_name = "evil";
  tree_.Write("evil-1.0.dist-info/METADATA", "");
  EXPECT_EQ(Shown(std::nullopt).value(), Paths{"acme/libp.so"});
}

TEST_F(PackageFilesTest, AFileThatMayBeAnothersWithoutRecordNeedsItsHash) {
  WriteOpen("acme/model.bin");
  tree_.WriteDistribution("other-1.0.dist-info", "other", "1.0",
                          "[bulkhead.backends]\nother = acme.other:entry\n");
  ExpectRefused("acme/model.bin", "may belong to other-1.0.dist-info");
  hashes_ = {{"acme/model.bin", kHashOfData}};
  EXPECT_EQ(Shown(Paths{"acme/libp.so", "acme/model.bin"}).value().size(), 2u);
}

TEST_F(PackageFilesTest, AFileOfManyNamesIsHashedOnceAndInPieces) {
  constexpr size_t kBytes = size_t{5} << 20;
  WriteOpen("acme/f0");
  std::filesystem::resize_file(tree_ / "acme/f0", kBytes);
  Paths rows = {"acme/libp.so", "acme/f0"};
  for (int i = 1; i < 12; ++i) {
    rows.push_back("acme/f" + std::to_string(i));
    std::filesystem::create_hard_link(tree_ / "acme/f0", tree_ / rows.back());
  }
  for (const std::string& row : rows) hashes_[row] = kHashOfOther;
  EXPECT_EQ(Shown(rows).value(), Paths{"acme/libp.so"});
  EXPECT_GE(steps_, 5u);
  EXPECT_LT(steps_, 20u) << "it is hashed for each name";
}

TEST_F(PackageFilesTest, WhatIsHashedIsBounded) {
  WriteOpen("huge");
  std::filesystem::resize_file(tree_ / "huge",
                               ContentCheck::kMaxHashedBytes + 1);
  hashes_ = {{"huge", kHashOfOther}};
  ExpectRefused("huge", "too large to be compared");
  EXPECT_LT(steps_, 10u) << "it is hashed";
}

TEST_F(PackageFilesTest, OtherDistributionsAreReadWithinABound) {
  for (size_t i = 0; i <= Neighbours::kMaxNeighbours; ++i) {
    std::filesystem::create_directory(
        tree_ / ("a" + std::to_string(i) + "-1.dist-info"));
  }
  WriteOpen("acme/model.bin");
  // Any of those beyond the bound may have it.
  ExpectRefused("acme/model.bin", "there are too many");
  // One step reads the claims, and one judges the rows.
  EXPECT_EQ(steps_, Neighbours::kMaxNeighbours + 2);
  hashes_ = {{"acme/model.bin", kHashOfData}};
  EXPECT_EQ(Shown(Paths{"acme/libp.so", "acme/model.bin"}).value().size(), 2u);
}

TEST_F(PackageFilesTest, RowsAreJudgedInSteps) {
  Paths rows = {"acme/libp.so"};
  for (int i = 0; i < 2000; ++i) rows.push_back("acme/" + std::to_string(i));
  EXPECT_EQ(Shown(rows).value().size(), rows.size());
  EXPECT_GE(steps_, 8u);
}

TEST_F(PackageFilesTest, RefusalsAreBounded) {
  Paths rows = {"acme/libp.so"};
  for (int i = 0; i < 100; ++i) {
    rows.push_back("acme/link" + std::to_string(i));
    tree_.Link("/etc/passwd", rows.back());
  }
  EXPECT_EQ(Shown(rows).value(), Paths{"acme/libp.so"});
  EXPECT_EQ(diagnostics_.size(), 17u);
  EXPECT_NE(diagnostics_.back().message.find("84 further files"),
            std::string::npos);
}

}  // namespace
}  // namespace bulkhead::discovery
