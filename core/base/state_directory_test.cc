// SPDX-License-Identifier: Apache-2.0
#include "core/base/state_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead {
namespace {

class StateDirectoryTest : public testing::Test {
 protected:
  StateDirectory Make() { return StateDirectory::OpenOrCreate(path_).value(); }

  TemporaryTree tree_;
  const std::string path_ = tree_ / "state/bulkhead";
};

TEST_F(StateDirectoryTest, IsMadeForItsUserAlone) {
  EXPECT_EQ(StateDirectory::Open(path_).error().code(), Code::kNotFound);
  Make();
  for (const char* made : {"state", "state/bulkhead"}) {
    struct stat info;
    ASSERT_EQ(::stat((tree_ / made).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u) << made;
  }
  EXPECT_TRUE(StateDirectory::Open(path_));
}

TEST_F(StateDirectoryTest, GivesBackWhatWasWrittenLast) {
  const StateDirectory directory = Make();
  EXPECT_EQ(directory.Read("a", 10).error().code(), Code::kNotFound);
  ASSERT_TRUE(directory.Write("a", "one").ok());
  ASSERT_TRUE(directory.Write("a", "three").ok());
  ASSERT_TRUE(directory.Write("ab", "").ok());
  ASSERT_TRUE(directory.Write("b", "").ok());
  EXPECT_EQ(directory.Read("a", 10).value(), "three");
  EXPECT_EQ(directory.Read("a", 4).error().code(), Code::kBadInput);
  EXPECT_EQ(directory.List("a", 10), (std::vector<std::string>{"a", "ab"}));
  EXPECT_EQ(directory.List("", 1).size(), 1u);
  EXPECT_TRUE(directory.Remove("a").ok());
  EXPECT_TRUE(directory.Remove("a").ok());
  EXPECT_EQ(directory.Read("a", 10).error().code(), Code::kNotFound);
}

TEST_F(StateDirectoryTest, OneThatOthersCanWriteToDoesNotCount) {
  Make();
  ASSERT_EQ(::chmod(path_.c_str(), 0777), 0);
  const auto open = StateDirectory::OpenOrCreate(path_);
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code(), Code::kInvalidArgument);
  EXPECT_NE(open.error().message().find("chmod go-w"), std::string::npos);
}

TEST_F(StateDirectoryTest, OneOfAnotherUserDoesNotCount) {
  Make();
  if (::chown(path_.c_str(), 1, 1) != 0) {
    GTEST_SKIP() << "this user cannot give files away";
  }
  EXPECT_EQ(StateDirectory::Open(path_).error().code(), Code::kInvalidArgument);
}

TEST_F(StateDirectoryTest, AFileOrALinkInItsPlaceDoesNotCount) {
  tree_.Write("file", "");
  EXPECT_FALSE(StateDirectory::OpenOrCreate(tree_ / "file"));
  Make();
  tree_.Link(path_, "link");
  EXPECT_EQ(StateDirectory::OpenOrCreate(tree_ / "link").error().code(),
            Code::kInvalidArgument);
}

TEST_F(StateDirectoryTest, WhatIsNoFileIsNotRead) {
  const StateDirectory directory = Make();
  ASSERT_EQ(::mkfifo((path_ + "/fifo").c_str(), 0600), 0);
  ASSERT_EQ(::mkdir((path_ + "/folder").c_str(), 0700), 0);
  tree_.Write("outside", "secret");
  tree_.Link(tree_ / "outside", "state/bulkhead/link");
  for (const char* name : {"fifo", "folder", "link"}) {
    EXPECT_EQ(directory.Read(name, 10).error().code(), Code::kBadInput) << name;
  }
}

TEST_F(StateDirectoryTest, AFailedWriteLeavesWhatWasThere) {
  const StateDirectory directory = Make();
  ASSERT_EQ(::mkdir((path_ + "/folder").c_str(), 0700), 0);
  EXPECT_EQ(directory.Write("folder", "x").code(), Code::kResourceExhausted);
  EXPECT_EQ(directory.List(".new-", 10).size(), 0u);
}

TEST_F(StateDirectoryTest, WhatAKilledWriterLeftIsRemovedLater) {
  Make();
  tree_.Write("state/bulkhead/.new-old-7", "half");
  tree_.Write("state/bulkhead/.new-young-8", "half");
  const timeval long_ago[2] = {{1'000'000, 0}, {1'000'000, 0}};
  ASSERT_EQ(::utimes((path_ + "/.new-old-7").c_str(), long_ago), 0);
  EXPECT_EQ(Make().List(".new-", 10), std::vector<std::string>{".new-young-8"});
}

}  // namespace
}  // namespace bulkhead
