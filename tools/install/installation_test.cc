// SPDX-License-Identifier: Apache-2.0
#include "tools/install/installation.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "core/base/testing/temporary_tree.h"
#include "tests/support/rows.h"
#include "tools/install/directory_lock.h"
#include "tools/install/testing/testing_wheel.h"

namespace bulkhead::install {
namespace {

namespace fs = std::filesystem;

class InstallationTest : public testing::Test {
 protected:
  Result<Installation> Put(const TestingWheel& wheel) {
    return Install(wheel.Write(wheels_.path()), tree_.path());
  }
  void ExpectRefusal(const Result<Installation>& refused,
                     const std::string& reason) {
    ASSERT_FALSE(refused) << "expected: " << reason;
    EXPECT_NE(refused.error().message().find(reason), std::string::npos)
        << refused.error();
  }
  // Expects that this is the only dist-info folder, and that it verifies.
  void ExpectOnly(const std::string& dist_info) {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(tree_.path())) {
      const std::string name = entry.path().filename();
      EXPECT_FALSE(name.starts_with(".bulkhead-")) << name;
      if (name.ends_with(".dist-info")) found.push_back(name);
    }
    EXPECT_EQ(found, std::vector{dist_info});
    EXPECT_EQ(VerifyInstalled(tree_.path(), dist_info), "");
  }

  TemporaryTree wheels_;
  TemporaryTree tree_;
};

TEST_F(InstallationTest, InstalledIsWhatTheWheelHolds) {
  const auto done = Put(TestingWheel("acme"));
  ASSERT_TRUE(done) << done.error();
  EXPECT_EQ(done->name, "acme");
  EXPECT_EQ(done->version, "1.0");
  EXPECT_FALSE(done->previous_version);
  EXPECT_FALSE(done->unchanged);
  EXPECT_EQ(done->dist_info, tree_ / "acme-1.0.dist-info");
  EXPECT_EQ(done->files, 6u);
  ASSERT_EQ(done->entry_points.size(), 1u);
  EXPECT_EQ(done->entry_points.begin()->name, "acme");
  EXPECT_TRUE(done->diagnostics.empty());
  EXPECT_EQ(ReadAll(tree_ / "acme/libacme.so"), "acme 1.0 object");
  EXPECT_EQ(ReadAll(tree_ / "acme-1.0.dist-info/INSTALLER"), "bulkhead\n");
  EXPECT_NE(ReadAll(tree_ / "acme-1.0.dist-info/RECORD")
                .find("acme-1.0.dist-info/INSTALLER,sha256="),
            std::string::npos);
  ExpectOnly("acme-1.0.dist-info");
}

TEST_F(InstallationTest, UmaskDoesNotHideFilesFromABackend) {
  const mode_t before = umask(0077);
  const auto done = Put(TestingWheel("acme").Add("acme/deep/x", "x"));
  umask(before);
  ASSERT_TRUE(done) << done.error();
  for (const std::string& line : Snapshot(tree_.path())) {
    EXPECT_TRUE(line.find(std::to_string(040755)) != std::string::npos ||
                line.find(std::to_string(0100644)) != std::string::npos ||
                line.find(std::to_string(0100755)) != std::string::npos)
        << line;
  }
}

TEST_F(InstallationTest, TargetDirectoryIsMadeAndKeptOnlyOnSuccess) {
  const std::string target = tree_ / "a/b";
  const std::string bad =
      TestingWheel("acme").SetRecord("").Write(wheels_.path());
  EXPECT_FALSE(Install(bad, target));
  EXPECT_FALSE(fs::exists(target));
  EXPECT_TRUE(Install(TestingWheel("acme").Write(wheels_.path()), target));
  EXPECT_EQ(VerifyInstalled(target, "acme-1.0.dist-info"), "");
}

TEST_F(InstallationTest, UninstallIsTheInverse) {
  tree_.Write("other/libother.so", "x");
  tree_.Write("acme-tools/readme", "near, but not the same");
  tree_.WriteDistribution("other-1.0.dist-info", "other", "1.0");
  const auto before = Snapshot(tree_.path());
  ASSERT_TRUE(Put(TestingWheel("acme")
                      .Add("acme/deep/er/x", "x")
                      .Add("other/extension.so", "y")));
  EXPECT_NE(Snapshot(tree_.path()), before);
  const auto gone = Uninstall("ACME", tree_.path());
  ASSERT_TRUE(gone) << gone.error();
  EXPECT_EQ(gone->name, "acme");
  EXPECT_EQ(gone->version, "1.0");
  EXPECT_EQ(gone->files, 3u);
  EXPECT_EQ(Snapshot(tree_.path()), before);
}

TEST_F(InstallationTest, AgainIsNoChange) {
  ASSERT_TRUE(Put(TestingWheel("acme")));
  struct stat before, after;
  stat((tree_ / "acme-1.0.dist-info").c_str(), &before);
  const auto again = Put(TestingWheel("acme"));
  ASSERT_TRUE(again) << again.error();
  EXPECT_TRUE(again->unchanged);
  EXPECT_EQ(again->previous_version, "1.0");
  stat((tree_ / "acme-1.0.dist-info").c_str(), &after);
  EXPECT_EQ(before.st_ino, after.st_ino);
  ExpectOnly("acme-1.0.dist-info");
}

TEST_F(InstallationTest, AgainRepairs) {
  ASSERT_TRUE(Put(TestingWheel("acme")));
  std::ofstream(tree_ / "acme/libacme.so") << "damaged";
  fs::remove(tree_ / "acme-1.0.dist-info/entry_points.txt");
  const auto again = Put(TestingWheel("acme"));
  ASSERT_TRUE(again) << again.error();
  EXPECT_FALSE(again->unchanged);
  EXPECT_EQ(ReadAll(tree_ / "acme/libacme.so"), "acme 1.0 object");
  ExpectOnly("acme-1.0.dist-info");
}

TEST_F(InstallationTest, UpgradeAndDowngradeReplace) {
  ASSERT_TRUE(Put(TestingWheel("acme", "1.0")
                      .Add("acme/only-in-1/x", "1")
                      .Add("acme/same", "same")));
  struct stat before, after;
  stat((tree_ / "acme/same").c_str(), &before);
  const auto up = Put(TestingWheel("acme", "2.0")
                          .Add("acme/only-in-2", "2")
                          .Add("acme/same", "same"));
  ASSERT_TRUE(up) << up.error();
  EXPECT_EQ(up->previous_version, "1.0");
  EXPECT_EQ(up->version, "2.0");
  EXPECT_EQ(ReadAll(tree_ / "acme/libacme.so"), "acme 2.0 object");
  EXPECT_FALSE(fs::exists(tree_ / "acme/only-in-1"));
  stat((tree_ / "acme/same").c_str(), &after);
  EXPECT_EQ(before.st_ino, after.st_ino) << "what is the same is not touched";
  ExpectOnly("acme-2.0.dist-info");

  const auto down = Put(TestingWheel("acme", "1.0"));
  ASSERT_TRUE(down) << down.error();
  EXPECT_EQ(down->previous_version, "2.0");
  EXPECT_FALSE(fs::exists(tree_ / "acme/only-in-2"));
  ExpectOnly("acme-1.0.dist-info");
}

TEST_F(InstallationTest, SeveralVersionsBecomeOne) {
  TestingWheel("acme", "1.0").Unpack(tree_.path());
  TestingWheel("acme", "1.5").Unpack(tree_.path());
  const auto done = Put(TestingWheel("acme", "2.0"));
  ASSERT_TRUE(done) << done.error();
  EXPECT_EQ(done->previous_version, "1.5");
  ExpectOnly("acme-2.0.dist-info");
}

TEST_F(InstallationTest, AnotherSpellingIsTheSameDistribution) {
  ASSERT_TRUE(Put(TestingWheel("Ac_me", "1.0")));
  const auto done = Put(TestingWheel("ac.me", "2.0"));
  ASSERT_TRUE(done) << done.error();
  EXPECT_EQ(done->previous_version, "1.0");
  ExpectOnly("ac.me-2.0.dist-info");
}

TEST_F(InstallationTest, FileBecomesFolderAndBack) {
  ASSERT_TRUE(Put(TestingWheel("acme", "1.0").Add("acme/thing", "file")));
  const auto folder =
      Put(TestingWheel("acme", "2.0").Add("acme/thing/inside", "x"));
  ASSERT_TRUE(folder) << folder.error();
  ExpectOnly("acme-2.0.dist-info");
  const auto file = Put(TestingWheel("acme", "1.0").Add("acme/thing", "file"));
  ASSERT_TRUE(file) << file.error();
  ExpectOnly("acme-1.0.dist-info");
}

TEST_F(InstallationTest, FolderWithAStrangersFileStays) {
  ASSERT_TRUE(Put(TestingWheel("acme", "1.0").Add("acme/thing/inside", "x")));
  tree_.Write("acme/thing/notes", "nobody's");
  const auto before = Snapshot(tree_.path());
  ExpectRefusal(Put(TestingWheel("acme", "2.0").Add("acme/thing", "file")),
                "\"acme/thing\"");
  EXPECT_EQ(Snapshot(tree_.path()), before);
}

TEST_F(InstallationTest, WhatBelongsToOthersIsNotOverwritten) {
  ASSERT_TRUE(Put(TestingWheel("other", "3.0").Add("shared/table", "other's")));
  tree_.Write("acme/notes", "nobody's");
  tree_.Write("flat", "a file");
  fs::create_directory_symlink("/tmp", tree_ / "link");
  const auto before = Snapshot(tree_.path());
  ExpectRefusal(Put(TestingWheel("acme").Add("shared/table", "acme's")),
                "\"shared/table\" (other 3.0's)");
  ExpectRefusal(Put(TestingWheel("acme").Add("acme/notes", "acme's")),
                "\"acme/notes\" (of no distribution)");
  ExpectRefusal(Put(TestingWheel("acme").Add("flat/x", "acme's")), "\"flat\"");
  ExpectRefusal(Put(TestingWheel("acme").Add("link/x", "acme's")), "\"link\"");
  ExpectRefusal(Put(TestingWheel("acme").Add("other", "acme's")), "\"other\"");
  EXPECT_EQ(Snapshot(tree_.path()), before);
}

TEST_F(InstallationTest, MetadataThatNamesAnotherIsRefused) {
  ExpectRefusal(Put(TestingWheel("acme").Add("acme-1.0.dist-info/METADATA",
                                             "Name: other\nVersion: 1.0\n")),
                "its Name is \"other\"");
  ExpectRefusal(Put(TestingWheel("acme").Add("acme-1.0.dist-info/METADATA",
                                             "Name: acme\nVersion: 1.1\n")),
                "version \"1.1\"");
  ExpectRefusal(Put(TestingWheel("acme").Remove("acme-1.0.dist-info/METADATA")),
                "METADATA");
  EXPECT_TRUE(fs::is_empty(tree_.path()));
}

TEST_F(InstallationTest, RefusalsLeaveTheInstalledVersionAsItWas) {
  ASSERT_TRUE(Put(TestingWheel("acme", "1.0")));
  const auto before = Snapshot(tree_.path());
  EXPECT_FALSE(Put(TestingWheel("acme", "2.0")
                       .Unlisted("acme/libacme.so")
                       .AddRecordLine("acme/libacme.so,sha256=AAAA,15")));
  EXPECT_EQ(Snapshot(tree_.path()), before);
}

TEST_F(InstallationTest, UnpackedDistributionIsInstalledToo) {
  TestingWheel("acme").Unpack(wheels_.path());
  for (const std::string& source :
       {wheels_.path(), wheels_ / "acme-1.0.dist-info", wheels_.path() + "/"}) {
    const auto done = Install(source, tree_.path());
    ASSERT_TRUE(done) << done.error();
    ExpectOnly("acme-1.0.dist-info");
    ASSERT_TRUE(Uninstall("acme", tree_.path()));
    EXPECT_TRUE(fs::is_empty(tree_.path()));
  }
}

TEST_F(InstallationTest, TwoInstallersTakeTurns) {
  std::vector<std::string> wheels;
  for (const char* version : {"1.0", "2.0", "3.0", "4.0"}) {
    wheels.push_back(TestingWheel("acme", version).Write(wheels_.path()));
  }
  std::vector<std::thread> threads;
  for (const std::string& wheel : wheels) {
    threads.emplace_back([&, wheel] {
      for (int i = 0; i < 5; ++i) {
        const auto done = Install(wheel, tree_.path(),
                                  {.lock_limit = std::chrono::seconds(60)});
        EXPECT_TRUE(done) << done.error();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int dist_infos = 0;
  for (const auto& entry : fs::directory_iterator(tree_.path())) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".dist-info")) continue;
    ++dist_infos;
    EXPECT_EQ(VerifyInstalled(tree_.path(), name), "");
  }
  EXPECT_EQ(dist_infos, 1);
}

TEST_F(InstallationTest, WaitingForAnotherInstallerHasAnEnd) {
  const auto lock =
      DirectoryLock::Acquire(tree_.path(), std::chrono::milliseconds(0));
  ASSERT_TRUE(lock) << lock.error();
  // bound: the other one has the lock until the end.
  const auto refused =
      Install(TestingWheel("acme").Write(wheels_.path()), tree_.path(),
              {.lock_limit = std::chrono::milliseconds(30)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kDeadlineExceeded);
  EXPECT_NE(refused.error().message().find("another installer"),
            std::string::npos);
}

TEST_F(InstallationTest, WhoMayOnlyReadTheDirectoryKeepsNobodyOut) {
  const ipc::UniqueFd reader(
      open(tree_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(flock(reader.get(), LOCK_EX | LOCK_NB), 0);
  const auto lock =
      DirectoryLock::Acquire(tree_.path(), std::chrono::milliseconds(0));
  tests::ExpectOutcome(tests::Escape(84), "a reader's lock of the directory",
                       "an installer gets in",
                       lock ? "an installer gets in" : lock.error().message());
  const fs::path file = fs::path(tree_.path()) / ".bulkhead-lock";
  EXPECT_EQ(fs::status(file).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(InstallationTest, TheLockIsHeldByOneAndLeavesNoFile) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 50;
  std::atomic<int> holders = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int time = 0; time < kTimes; ++time) {
        const auto lock =
            DirectoryLock::Acquire(tree_.path(), std::chrono::seconds(60));
        ASSERT_TRUE(lock) << lock.error();
        EXPECT_EQ(++holders, 1);
        // The next one finds what is locked.
        EXPECT_TRUE(fs::exists(tree_ / ".bulkhead-lock"));
        --holders;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(fs::is_empty(tree_.path()));
}

TEST_F(InstallationTest, UninstallOfWhatIsNotThereSaysWhatIs) {
  ASSERT_TRUE(Put(TestingWheel("acme")));
  const auto gone = Uninstall("acne", tree_.path());
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code(), Code::kNotFound);
  EXPECT_NE(gone.error().message().find("there is acme"), std::string::npos)
      << gone.error();
  EXPECT_EQ(Uninstall("acme", tree_ / "nowhere").error().code(),
            Code::kNotFound);
}

TEST_F(InstallationTest, WithoutRecordNothingIsTouched) {
  TestingWheel("acme").SetRecord("").Unpack(tree_.path());
  const auto before = Snapshot(tree_.path());
  const auto gone = Uninstall("acme", tree_.path());
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message().find(tree_ / "acme-1.0.dist-info, "),
            std::string::npos)
      << gone.error();
  EXPECT_NE(gone.error().message().find(tree_ / "acme"), std::string::npos);
  ExpectRefusal(Put(TestingWheel("acme", "2.0")), "no RECORD");
  EXPECT_EQ(Snapshot(tree_.path()), before);
}

TEST_F(InstallationTest, UninstallStaysInTheDirectoryAndOffOthers) {
  TemporaryTree outside;
  outside.Write("precious", "x");
  tree_.Write("acme/generated", "not in RECORD");
  ASSERT_TRUE(Put(TestingWheel("other").Add("other/file", "other's")));
  fs::create_directory_symlink(outside.path(), tree_ / "way");
  TestingWheel("acme")
      .AddRecordLine("../precious,,")
      .AddRecordLine(outside / "precious" + ",,")
      .AddRecordLine("way/precious,,")
      .AddRecordLine("other/file,,")
      .AddRecordLine("other-1.0.dist-info/METADATA,,")
      .AddRecordLine(".bulkhead-transaction/x,,")
      .AddRecordLine("other,,")
      .AddRecordLine("absent,,")
      .Unpack(tree_.path());
  const auto gone = Uninstall("acme", tree_.path());
  ASSERT_TRUE(gone) << gone.error();
  EXPECT_EQ(gone->files, 1u);
  EXPECT_TRUE(fs::exists(outside / "precious"));
  EXPECT_TRUE(fs::exists(tree_ / "acme/generated"));
  EXPECT_FALSE(fs::exists(tree_ / "acme/libacme.so"));
  ExpectOnly("other-1.0.dist-info");
  std::string said;
  for (const Diagnostic& diagnostic : gone->diagnostics) {
    said += ToString(diagnostic) + "\n";
  }
  for (const char* what : {"../precious", "other/file", "METADATA", "does not",
                           ".bulkhead-transaction/x"}) {
    EXPECT_NE(said.find(what), std::string::npos) << what << " in\n" << said;
  }
}

}  // namespace
}  // namespace bulkhead::install
