// SPDX-License-Identifier: Apache-2.0
#include "core/grants/grant_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::grants {
namespace {

constexpr char kGrant[] =
    "[[grant]]\nbackend = \"acme\"\nany_hash = true\nread = [\"/a\"]\n";

class GrantReaderTest : public testing::Test {
 protected:
  GrantReaderTest() : path_(tree_ / "grants.toml") {
    tree_.Write("grants.toml", kGrant);
    chmod(path_.c_str(), 0644);
  }

  // Why the file grants nothing; empty if it does grant something.
  std::string Objection() {
    const Grants read = ReadGrantFile(path_);
    EXPECT_EQ(read.grants.empty(), !read.diagnostics.empty());
    return read.grants.empty() ? read.diagnostics.at(0).message : "";
  }

  TemporaryTree tree_;
  std::string path_;
};

TEST_F(GrantReaderTest, AFileThatOthersMayWriteIsNotBelieved) {
  EXPECT_EQ(Objection(), "");
  chmod(path_.c_str(), 0600);
  EXPECT_EQ(Objection(), "");
  for (const mode_t mode : {0664, 0646, 0666}) {
    chmod(path_.c_str(), mode);
    EXPECT_NE(Objection().find("chmod go-w " + path_), std::string::npos);
  }
}

TEST_F(GrantReaderTest, AFileOfAnotherUserIsNotBelieved) {
  if (chown(path_.c_str(), 12345, 12345) != 0) {
    GTEST_SKIP() << "this user cannot give files away";
  }
  EXPECT_NE(Objection().find("chown 0 " + path_), std::string::npos);
}

// A regular file of this user's, of which the kernel cannot read the beginning.
TEST_F(GrantReaderTest, AFileThatCannotBeReadIsAnError) {
  const Result<std::string> text = ReadBelievedFile("/proc/self/mem");
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message().find("cannot be read"), std::string::npos)
      << text.error();
}

TEST_F(GrantReaderTest, WhatIsNoRegularFileIsNotBelieved) {
  std::filesystem::rename(path_, tree_ / "real");
  EXPECT_EQ(ReadGrantFile(path_), Grants());
  tree_.Link(tree_ / "real", "grants.toml");
  EXPECT_NE(Objection().find("symbolic link"), std::string::npos);
  std::filesystem::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0644), 0);
  EXPECT_NE(Objection().find("no regular file"), std::string::npos);
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_NE(Objection(), "");
}

TEST_F(GrantReaderTest, AFileAboveAMebibyteIsNotBelieved) {
  constexpr size_t kMostBytes = 1 << 20;
  const auto write = [&](size_t bytes) {
    const std::string grant = kGrant;
    tree_.Write("grants.toml", grant + std::string(bytes - grant.size(), '\n'));
    chmod(path_.c_str(), 0644);
  };
  write(kMostBytes);
  EXPECT_EQ(Objection(), "");
  write(kMostBytes + 1);
  EXPECT_NE(Objection().find("larger than a mebibyte"), std::string::npos);
}

TEST_F(GrantReaderTest, ChangesAreSeen) {
  GrantReader reader({tree_ / "missing", path_});
  EXPECT_EQ(reader.Latest().grants.size(), 1u);
  EXPECT_EQ(reader.Latest().grants.size(), 1u);
  tree_.Write("missing", kGrant + std::string(kGrant));
  chmod((tree_ / "missing").c_str(), 0600);
  EXPECT_EQ(reader.Latest().grants.size(), 3u);
  chmod(path_.c_str(), 0666);
  EXPECT_EQ(reader.Latest().grants.size(), 2u);
  EXPECT_EQ(reader.Latest().diagnostics.size(), 1u);
  tree_.Remove("missing");
  tree_.Remove("grants.toml");
  EXPECT_EQ(reader.Latest(), Grants());
}

}  // namespace
}  // namespace bulkhead::grants
