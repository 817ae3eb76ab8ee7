// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/bounded_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "core/discovery/temporary_tree.h"

namespace bulkhead::discovery {
namespace {

class BoundedFileTest : public ::testing::Test {
 protected:
  BoundedFileTest() : directory_(tree_.Open()) {}

  Code CodeOf(const std::string& path) {
    return ReadFileBeneath(directory_.get(), path).error().code();
  }
  void Link(const std::string& target, const std::string& below) {
    std::filesystem::create_symlink(target, tree_ / below);
  }

  TemporaryTree tree_;
  ipc::UniqueFd directory_;
};

TEST_F(BoundedFileTest, ReadsARegularFileWhole) {
  const std::string contents(100000, 'x');
  tree_.Write("a/b", contents);
  EXPECT_EQ(ReadFileBeneath(directory_.get(), "a/b").value(), contents);
  tree_.Write("empty", "");
  EXPECT_EQ(ReadFileBeneath(directory_.get(), "empty").value(), "");
  const auto fd = OpenRegularFileBeneath(directory_.get(), "a/b");
  ASSERT_TRUE(fd);
  EXPECT_EQ(fcntl(fd->get(), F_GETFD), FD_CLOEXEC);
}

TEST_F(BoundedFileTest, MissingFilesAreNotFound) {
  tree_.Write("file", "x");
  EXPECT_EQ(CodeOf("missing"), Code::kNotFound);
  EXPECT_EQ(CodeOf("file/below"), Code::kNotFound);
  EXPECT_EQ(CodeOf(""), Code::kNotFound);
}

TEST_F(BoundedFileTest, WhatIsNoRegularFileIsRefusedWithoutBlocking) {
  ASSERT_EQ(mkfifo((tree_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(CodeOf("fifo"), Code::kUnsupported);
  tree_.Write("folder/x", "x");
  EXPECT_EQ(CodeOf("folder"), Code::kUnsupported);
  EXPECT_EQ(OpenDirectoryBeneath(directory_.get(), "folder/x").error().code(),
            Code::kUnsupported);
  if (mknod((tree_ / "null").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) {
    EXPECT_EQ(CodeOf("null"), Code::kUnsupported);
  }
}

TEST_F(BoundedFileTest, LinksLeadNowhereElse) {
  Link("loop", "loop");
  EXPECT_EQ(CodeOf("loop"), Code::kInvalidArgument);
  Link("/etc/passwd", "absolute");
  EXPECT_EQ(CodeOf("absolute"), Code::kInvalidArgument);
  tree_.Write("folder/x", "inside");
  Link("../../etc/passwd", "folder/up");
  EXPECT_EQ(CodeOf("folder/up"), Code::kInvalidArgument);
  Link("folder", "link");
  EXPECT_EQ(ReadFileBeneath(directory_.get(), "link/x").value(), "inside");
}

TEST_F(BoundedFileTest, PathsDoNotLeaveTheDirectory) {
  EXPECT_EQ(CodeOf("/etc/passwd"), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf("../x"), Code::kInvalidArgument);
}

TEST_F(BoundedFileTest, BigFilesAreRefusedUnread) {
  tree_.Write("big", "");
  ASSERT_EQ(truncate((tree_ / "big").c_str(), 100 << 20), 0);
  EXPECT_EQ(CodeOf("big"), Code::kResourceExhausted);
  tree_.Write("limit", std::string(10, 'x'));
  EXPECT_TRUE(ReadFileBeneath(directory_.get(), "limit", 10));
  EXPECT_FALSE(ReadFileBeneath(directory_.get(), "limit", 9));
}

}  // namespace
}  // namespace bulkhead::discovery
