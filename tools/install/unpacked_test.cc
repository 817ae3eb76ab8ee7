// SPDX-License-Identifier: Apache-2.0
#include "tools/install/unpacked.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "core/base/testing/temporary_tree.h"
#include "ipc/unique_fd.h"
#include "tools/install/testing/testing_wheel.h"

namespace bulkhead::install {
namespace {

class Unpacked : public testing::Test {
 protected:
  Result<Staged> Stage(const std::string& below = "") {
    std::filesystem::remove_all(staging_.path());
    std::filesystem::create_directory(staging_.path());
    const ipc::UniqueFd fd = staging_.Open();
    return StageUnpacked(source_ / below, fd.get());
  }
  void ExpectRefusal(const std::string& reason) {
    const auto staged = Stage();
    ASSERT_FALSE(staged) << "expected: " << reason;
    EXPECT_NE(staged.error().message().find(reason), std::string::npos)
        << staged.error();
  }

  TemporaryTree source_;
  TemporaryTree staging_;
};

TEST_F(Unpacked, CopiesWhatRecordLists) {
  TestingWheel("acme").Unpack(source_.path());
  source_.Write("acme/scratch", "not in RECORD");
  for (const char* below : {"", "acme-1.0.dist-info", "acme-1.0.dist-info/"}) {
    const auto staged = Stage(below);
    ASSERT_TRUE(staged) << staged.error();
    EXPECT_EQ(staged->dist_info, "acme-1.0.dist-info");
    EXPECT_EQ(staged->files.size(), 4u);
    EXPECT_EQ(ReadAll(staging_ / "acme/libacme.so"), "acme 1.0 object");
    EXPECT_FALSE(std::filesystem::exists(staging_ / "acme/scratch"));
    struct stat info;
    stat((staging_ / "acme/libacme.so").c_str(), &info);
    EXPECT_EQ(info.st_mode & 07777, 0755u);
  }
}

TEST_F(Unpacked, DamageIsRefused) {
  TestingWheel("acme").Unpack(source_.path());
  source_.Write("acme/libacme.so", "acme 1.0 obJect");
  ExpectRefusal("hash");
  source_.Write("acme/libacme.so", "acme 1.0 object and more");
  ExpectRefusal("more bytes");
  std::filesystem::remove(source_ / "acme/libacme.so");
  ExpectRefusal("acme/libacme.so");
  ASSERT_EQ(mkfifo((source_ / "acme/libacme.so").c_str(), 0600), 0);
  ExpectRefusal("not a regular file");
  std::filesystem::remove(source_ / "acme/libacme.so");
  std::filesystem::create_symlink("/etc/hostname", source_ / "acme/libacme.so");
  ExpectRefusal("leads out");
}

TEST_F(Unpacked, OneDistInfoWithRecordIsDemanded) {
  source_.Write("file", "x");
  ExpectRefusal("holds 0 dist-info folders");
  TestingWheel("acme").SetRecord("").Unpack(source_.path());
  ExpectRefusal("RECORD");
  TestingWheel("other").Unpack(source_.path());
  ExpectRefusal("holds 2 dist-info folders");
  EXPECT_TRUE(Stage("other-1.0.dist-info"));
  EXPECT_FALSE(Stage("nowhere"));
}

TEST_F(Unpacked, WhatLiesElsewhereIsLeftOut) {
  TestingWheel("acme")
      .AddRecordLine("../../bin/acme,sha256=AAAA,3")
      .AddRecordLine("acme/__pycache__/acme.pyc,,")
      .AddRecordLine("acme/unhashed,,")
      .Unpack(source_.path());
  const auto staged = Stage();
  ASSERT_TRUE(staged) << staged.error();
  EXPECT_EQ(staged->files.size(), 4u);
  EXPECT_EQ(staged->diagnostics.size(), 2u) << "bytecode is no news";
}

TEST_F(Unpacked, AnotherDistributionsMetadataIsRefused) {
  source_.Write("other-1.0.dist-info.txt", "x");
  TestingWheel("acme")
      .AddRecordLine("other-1.0.dist-info/METADATA,sha256=AAAA,0")
      .Unpack(source_.path());
  ExpectRefusal("another distribution");
}

}  // namespace
}  // namespace bulkhead::install
