// SPDX-License-Identifier: Apache-2.0
#include "core/application/batch/directory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <vector>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::batch {
namespace {

namespace fs = std::filesystem;

// The name of what the process has in .batch/unfinished.
std::string OnlyOwner(const std::string& root) {
  fs::directory_iterator owners(root + "/.batch/unfinished");
  return owners == fs::directory_iterator() ? "" : owners->path().filename();
}

TEST(Directory, RemovesWhatProcessesThatAreGoneHaveLeft) {
  const TemporaryTree tree;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto directory = Directory::Open(tree.path()).value();
    (void)directory->Write(
        "x", ".batch/unfinished/" + OnlyOwner(tree.path()) + "/half", "half");
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  const std::string left = tree / ".batch/unfinished/" + OnlyOwner(tree.path());
  ASSERT_TRUE(fs::exists(left + "/half"));
  // A machine whose processes cannot be seen here, a moment and weeks ago.
  tree.Write(".batch/unfinished/far.0123456789ab.1.1/half", "");
  tree.Write(".batch/unfinished/lost.0123456789ab.1.1/half", "");
  fs::last_write_time(
      tree / ".batch/unfinished/lost.0123456789ab.1.1",
      fs::file_time_type::clock::now() - std::chrono::hours(15 * 24));

  const auto directory = Directory::Open(tree.path()).value();
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(tree / ".batch/unfinished/far.0123456789ab.1.1/half"));
  EXPECT_FALSE(fs::exists(tree / ".batch/unfinished/lost.0123456789ab.1.1"));
}

TEST(Directory, TellsAProcessFromAnEarlierOneOfTheSamePid) {
  const TemporaryTree tree;
  const auto directory = Directory::Open(tree.path()).value();
  const std::string owner = OnlyOwner(tree.path());
  const std::string earlier = owner.substr(0, owner.rfind('.')) + ".1";
  tree.Write(".batch/unfinished/" + earlier + "/half", "");
  const auto other = Directory::Open(tree.path()).value();
  EXPECT_TRUE(fs::exists(tree / ".batch/unfinished/" + owner));
  EXPECT_FALSE(fs::exists(tree / ".batch/unfinished/" + earlier));
}

TEST(Directory, LeavesAloneWhatOtherProcessesAreWriting) {
  const TemporaryTree tree;
  const auto directory = Directory::Open(tree.path()).value();
  tree.Write(".batch/unfinished/" + OnlyOwner(tree.path()) + "/x", "half");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // Its destructor removes its own, not its parent's.
    { const auto other = Directory::Open(tree.path()).value(); }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::exists(directory->Unfinished("x")));
}

TEST(Directory, LeavesAloneWhatALivingProcessHasHadForWeeks) {
  const TemporaryTree tree;
  const auto directory = Directory::Open(tree.path()).value();
  const std::string owner = OnlyOwner(tree.path());
  tree.Write(".batch/unfinished/" + owner + "/x", "half");
  fs::last_write_time(
      tree / ".batch/unfinished/" + owner,
      fs::file_time_type::clock::now() - std::chrono::hours(15 * 24));
  const auto other = Directory::Open(tree.path()).value();
  EXPECT_TRUE(fs::exists(directory->Unfinished("x")));
}

TEST(Directory, PublishesADirectoryThatOthersPublishAtTheSameTime) {
  const TemporaryTree tree;
  constexpr int kTimes = 200;
  std::vector<std::future<Status>> publishers;
  for (int i = 0; i < 2; ++i) {
    publishers.push_back(std::async(std::launch::async, [&] {
      const auto directory = Directory::Open(tree.path()).value();
      Status status;
      for (int n = 0; n < kTimes && status.ok(); ++n) {
        fs::create_directory(directory->Unfinished("0"));
        std::ofstream(directory->Unfinished("0") + "/000000.png") << "png";
        status = directory->Publish("0", "a.png");
      }
      return status;
    }));
  }
  for (auto& publisher : publishers) {
    const Status status = publisher.get();
    EXPECT_TRUE(status.ok()) << status;
  }
  const auto directory = Directory::Open(tree.path()).value();
  EXPECT_EQ(directory->Read("a.png/000000.png"), "png");
}

TEST(Directory, PublishesFilesAndDirectoriesInPlaceOfOlderOnes) {
  const TemporaryTree tree;
  const auto directory = Directory::Open(tree.path()).value();
  for (const char* text : {"old", "new"}) {
    ASSERT_TRUE(directory->Write("0", "a/b.json", text).ok());
    EXPECT_EQ(directory->Read("a/b.json"), text);
    fs::create_directory(directory->Unfinished("1"));
    std::ofstream(directory->Unfinished("1") + "/" + text) << text;
    ASSERT_TRUE(directory->Publish("1", "c.png").ok());
    EXPECT_EQ(directory->Read(std::string("c.png/") + text), text);
  }
  EXPECT_FALSE(directory->Has("c.png/old"));
  EXPECT_EQ(directory->SizeOf("a/b.json"), 3u);
  EXPECT_EQ(directory->SizeOf("c.png"), 3u);
  EXPECT_EQ(directory->SizeOf("none"), std::nullopt);
  EXPECT_TRUE(fs::is_empty(directory->Unfinished("")));
  EXPECT_EQ(directory->Publish("none", "d").code(), Code::kInvalidArgument);
}

TEST(Directory, SaysWhyAnOlderDirectoryIsNotReplaced) {
  const TemporaryTree tree;
  const auto directory = Directory::Open(tree.path()).value();
  fs::create_directory(directory->Unfinished("0"));
  // The kernel renames no path that ends with a dot.
  const Status status = directory->Publish("0", ".");
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_TRUE(status.message().ends_with("/.: Device or resource busy"))
      << status.message();
}

TEST(Directory, OnlyTheFirstWritesWhatIsNew) {
  const TemporaryTree tree;
  const auto directory = Directory::Open(tree.path()).value();
  EXPECT_TRUE(directory->WriteNew("0", ".batch/poison/x", "first").value());
  EXPECT_FALSE(directory->WriteNew("0", ".batch/poison/x", "second").value());
  EXPECT_EQ(directory->Read(".batch/poison/x"), "first");
}

TEST(Directory, JoinsRecordsInOrderOfTheInputs) {
  const TemporaryTree tree;
  const auto directory = Directory::Open(tree.path()).value();
  const auto line = [](const std::string& input) {
    return "{\"input\":\"" + input +
           "\",\"bytes\":1,\"modified_ns\":2,\"sha256\":null,\"options\":{},"
           "\"output\":null,\"error\":null,\"frames\":3,\"damage\":[],"
           "\"restarts\":0}\n";
  };
  tree.Write(".batch/manifest/1.json", line("b"));
  std::string without_end = line("a");
  without_end.pop_back();
  tree.Write(".batch/manifest/d/2.json", without_end);
  tree.Write(".batch/manifest/3.json", "{\"input\":");
  // Deeper than the stack, if each array takes a call to write it out.
  tree.Write(".batch/manifest/4.json",
             "{\"input\":" + std::string(1 << 20, '[') +
                 std::string(1 << 20, ']') + "}\n");
  ASSERT_TRUE(directory->Join().ok());
  EXPECT_EQ(directory->Read("manifest.jsonl"), line("a") + line("b"));
}

}  // namespace
}  // namespace bulkhead::batch
