// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/catalog/file_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::catalog {
namespace {

namespace fs = std::filesystem;

class FileWatchTest : public testing::Test {
 protected:
  bool Changed() {
    auto changed = watch().WhenChanged();
    const bool is = changed.poll(loop_.scope);
    if (is) changed.wait(loop_.scope);
    return is;
  }
  FileWatch& watch() { return loop_.watch; }

  // kj's destructors may throw, and a test fixture's may not.
  struct Loop {
    kj::UnixEventPort port;
    kj::EventLoop loop{port};
    kj::WaitScope scope{loop};
    FileWatch watch{port};
    ~Loop() noexcept {}
  };
  Loop loop_;
  TemporaryTree tree_;
};

TEST_F(FileWatchTest, WritingMakingRenamingAndRemovingAreTold) {
  tree_.Write("a", "");
  watch().Watch({tree_.path()});
  EXPECT_FALSE(Changed());
  tree_.Write("a", "contents");
  EXPECT_TRUE(Changed());
  tree_.Write("b", "");
  EXPECT_TRUE(Changed());
  fs::rename(tree_ / "b", tree_ / "c");
  EXPECT_TRUE(Changed());
  tree_.Remove("c");
  EXPECT_TRUE(Changed());
  EXPECT_FALSE(Changed());
  EXPECT_FALSE(watch().problem());
}

TEST_F(FileWatchTest, WhatIsNotWatchedAnyMoreIsNotTold) {
  fs::create_directory(tree_ / "one");
  fs::create_directory(tree_ / "two");
  watch().Watch({tree_ / "one"});
  watch().Watch({tree_ / "two"});
  (void)Changed();
  tree_.Write("one/file", "");
  EXPECT_FALSE(Changed());
  tree_.Write("two/file", "");
  EXPECT_TRUE(Changed());
}

TEST_F(FileWatchTest, ADirectoryThatIsMadeAgainIsWatchedAgain) {
  fs::create_directory(tree_ / "one");
  const std::set<std::string> directories = {tree_.path(), tree_ / "one"};
  watch().Watch(directories);
  tree_.Remove("one");
  EXPECT_TRUE(Changed());
  watch().Watch(directories);
  EXPECT_FALSE(watch().problem());
  fs::create_directory(tree_ / "one");
  EXPECT_TRUE(Changed());
  watch().Watch(directories);
  tree_.Write("one/file", "");
  EXPECT_TRUE(Changed());
}

TEST_F(FileWatchTest, TooManyDirectoriesAreADiagnosticAndNoError) {
  std::set<std::string> directories;
  for (size_t i = 0; i <= FileWatch::kMaxDirectories; ++i) {
    directories.insert(tree_ / ("d" + std::to_string(i)));
    fs::create_directory(tree_ / ("d" + std::to_string(i)));
  }
  watch().Watch(directories);
  ASSERT_TRUE(watch().problem());
  EXPECT_NE(watch().problem()->message.find("too many"), std::string::npos);
  tree_.Write("d0/file", "");
  EXPECT_TRUE(Changed());
}

}  // namespace
}  // namespace bulkhead::catalog
