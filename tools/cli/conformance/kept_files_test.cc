// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/conformance/kept_files.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace bulkhead::cli::conformance {
namespace {

namespace fs = std::filesystem;

class KeptFilesTest : public testing::Test {
 protected:
  KeptFilesTest()
      : directory_(
            testing::TempDir() + "/" +
            testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(directory_);
  }

  // Returns the text of the file that is kept for a recipe, which is the number
  // of the call that made it.
  std::string Get(const std::string& recipe) {
    const auto place =
        KeptFiles(directory_)
            .Get("number", recipe, [this](const std::string& made) {
              std::ofstream(made + "/number") << ++calls_;
              return Status();
            });
    EXPECT_TRUE(place) << place.error();
    if (!place) return "";
    path_ = *place + "/number";
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::string directory_;
  std::string path_;  // of the last file
  std::atomic<int> calls_ = 0;
};

TEST_F(KeptFilesTest, AreMadeOnceForEachRecipe) {
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "2");
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(KeptFilesTest, AreMadeAnewIfTheyWereChanged) {
  EXPECT_EQ(Get("a"), "1");
  std::ofstream(path_) << "another";
  EXPECT_EQ(Get("a"), "2");
  fs::remove(path_);
  EXPECT_EQ(Get("a"), "3");
  fs::resize_file(fs::path(path_).replace_filename("stamp"), 1);
  EXPECT_EQ(Get("a"), "4");
}

TEST_F(KeptFilesTest, OfARunThatWasKilledAreRemoved) {
  EXPECT_EQ(Get("a"), "1");
  const fs::path made = fs::path(path_).parent_path();
  const fs::path unfinished = made.parent_path() / "making-123456";
  fs::rename(made, unfinished);
  EXPECT_EQ(Get("a"), "2");
  EXPECT_FALSE(fs::exists(unfinished));
}

TEST_F(KeptFilesTest, AreNotKeptIfMakingThemFails) {
  const KeptFiles kept(directory_);
  for (int i = 0; i < 2; ++i) {
    const auto failed = kept.Get("one", "a", [](const std::string& place) {
      std::ofstream(place + "/half") << "half";
      return Status(Code::kUnsupported, "no encoder");
    });
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message(), "no encoder");
  }
  for (const auto& entry : fs::recursive_directory_iterator(directory_)) {
    EXPECT_TRUE(entry.is_directory()) << entry.path();
  }
}

TEST_F(KeptFilesTest, AreMadeOnceForRunsAtOnce) {
  constexpr int kRuns = 8;
  std::vector<std::string> texts(kRuns);
  std::vector<std::thread> runs;
  for (std::string& text : texts) {
    runs.emplace_back([this, &text] {
      const auto place = KeptFiles(directory_)
                             .Get("one", "a", [this](const std::string& made) {
                               std::ofstream(made + "/number") << ++calls_;
                               return Status();
                             });
      if (place) std::ifstream(*place + "/number") >> text;
    });
  }
  for (std::thread& run : runs) run.join();
  EXPECT_EQ(texts, std::vector<std::string>(kRuns, "1"));
}

TEST_F(KeptFilesTest, NeedADirectoryThatCanBeWritten) {
  std::ofstream{directory_} << "a file";
  const auto refused =
      KeptFiles(directory_).Get("one", "a", [](const std::string&) {
        return Status();
      });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kInvalidArgument);
  EXPECT_NE(refused.error().message().find(directory_), std::string::npos);
}

}  // namespace
}  // namespace bulkhead::cli::conformance
