// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/granted_paths.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::sandbox {
namespace {

using Kind = GrantedPath::Kind;

// Resolves a glob in a directory that stands for /dev.
std::vector<std::string> Devices(const std::string& glob,
                                 std::vector<std::string>* problems = nullptr) {
  std::vector<std::string> ours;
  std::vector<std::string> names;
  for (const GrantedPath& device : ResolveDevices(
           glob, [](const std::string&) { return true; },
           problems ? *problems : ours)) {
    EXPECT_EQ(device.kind, Kind::kDevice);
    EXPECT_NE(device.identity.node, 0u);
    names.push_back(device.path);
  }
  return names;
}

TEST(GrantedPathsTest, FilesAndDirectoriesCanBeRead) {
  const TemporaryTree tree;
  tree.Write("folder/file", "x");
  const auto file = ResolveReadable(tree / "folder/file");
  ASSERT_TRUE(file) << file.error();
  EXPECT_EQ(file->kind, Kind::kFile);
  const auto folder = ResolveReadable(tree / "folder");
  ASSERT_TRUE(folder) << folder.error();
  EXPECT_EQ(folder->kind, Kind::kDirectory);
  EXPECT_NE(folder->identity, file->identity);
  const auto missing = ResolveReadable(tree / "missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), Code::kNotFound);
}

TEST(GrantedPathsTest, NoPartOfAPathIsALink) {
  const TemporaryTree tree;
  tree.Write("real/file", "x");
  tree.Link(tree / "real", "linked");
  tree.Link(tree / "real/file", "link");
  tree.Link("file", "real/inside");
  for (const char* path : {"linked", "linked/file", "link", "real/inside"}) {
    const auto refused = ResolveReadable(tree / path);
    ASSERT_FALSE(refused) << path;
    EXPECT_NE(refused.error().message().find("symbolic link"),
              std::string::npos)
        << refused.error();
  }
}

TEST(GrantedPathsTest, OnlyFilesAndDirectoriesCanBeRead) {
  const TemporaryTree tree;
  ASSERT_EQ(mkfifo((tree / "fifo").c_str(), 0666), 0);
  for (const std::string& path : {tree / "fifo", std::string("/dev/null")}) {
    const auto refused = ResolveReadable(path);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kInvalidArgument);
  }
}

TEST(GrantedPathsTest, ItIsToldWhyAUidOfItsOwnIsOfNoUse) {
  constexpr Reach kOwnRoot = {.own_uid = true, .own_root = true};
  const TemporaryTree tree;
  tree.Write("file", "x");
  ASSERT_EQ(chmod((tree / "file").c_str(), 0640), 0);
  const auto file = ResolveReadable(tree / "file").value();
  EXPECT_EQ(ObstacleTo(file, {}), "");
  EXPECT_NE(ObstacleTo(file, kOwnRoot).find("start as an ordinary user"),
            std::string::npos)
      << ObstacleTo(file, kOwnRoot);
  ASSERT_EQ(chmod((tree / "file").c_str(), 0644), 0);
  EXPECT_EQ(ObstacleTo(ResolveReadable(tree / "file").value(), kOwnRoot), "");
}

TEST(GrantedPathsTest, ADirectoryAboveIsAnObstacleWithoutARootOfItsOwn) {
  // The directories of Bazel may be closed themselves.
  const TemporaryTree tree("/tmp");
  tree.Write("closed/open/file", "x");
  for (const char* path : {"", "closed", "closed/open"}) {
    ASSERT_EQ(chmod((tree / path).c_str(), 0755), 0);
  }
  const std::string path = tree / "closed/open/file";
  const auto file = ResolveReadable(path).value();
  EXPECT_EQ(ClosedDirectoryAbove(path), "");
  EXPECT_EQ(ObstacleTo(file, {.own_uid = true}), "");
  ASSERT_EQ(chmod((tree / "closed").c_str(), 0700), 0);
  EXPECT_EQ(ClosedDirectoryAbove(path), tree / "closed");
  EXPECT_NE(ObstacleTo(file, {.own_uid = true}).find("chmod o+x"),
            std::string::npos);
  EXPECT_EQ(ObstacleTo(file, {.own_uid = true, .own_root = true}), "");
  EXPECT_EQ(ObstacleTo(file, {}), "");
}

TEST(GrantedPathsTest, AGlobFindsDevicesAndNothingElse) {
  EXPECT_EQ(Devices("/dev/zero"), std::vector<std::string>{"/dev/zero"});
  EXPECT_EQ(Devices("/dev/zer[no]"), std::vector<std::string>{"/dev/zero"});
  const TemporaryTree tree;
  tree.Write("dev/regular", "x");
  tree.Link("/dev/zero", "dev/link");
  tree.Link("/dev", "linked");
  std::vector<std::string> problems;
  EXPECT_EQ(Devices(tree / "dev/*", &problems), std::vector<std::string>());
  EXPECT_EQ(problems.size(), 2u);
  EXPECT_EQ(Devices(tree / "linked/zero"), std::vector<std::string>());
  EXPECT_EQ(Devices(tree / "linked/z*"), std::vector<std::string>());
  EXPECT_EQ(Devices(tree / "nothing*"), std::vector<std::string>());
}

TEST(GrantedPathsTest, TheFilterHasTheLastWord) {
  std::vector<std::string> problems;
  const auto found = ResolveDevices(
      "/dev/*", [](const std::string& path) { return path == "/dev/full"; },
      problems);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].path, "/dev/full");
  EXPECT_EQ(found[0].identity.node, makedev(1, 7));
}

TEST(GrantedPathsTest, StorageAndMemoryAreNotGranted) {
  const TemporaryTree tree;
  const struct {
    const char* name;
    mode_t mode;
    dev_t node;
  } kNodes[] = {{"block", S_IFBLK, makedev(7, 200)},
                {"mem", S_IFCHR, makedev(1, 1)},
                {"port", S_IFCHR, makedev(1, 4)},
                {"zero", S_IFCHR, makedev(1, 5)}};
  for (const auto& node : kNodes) {
    if (mknod((tree / node.name).c_str(), node.mode | 0600, node.node) != 0) {
      GTEST_SKIP() << "this user cannot make device nodes";
    }
  }
  std::vector<std::string> problems;
  EXPECT_EQ(Devices(tree / "*", &problems),
            std::vector<std::string>{tree / "zero"});
  EXPECT_EQ(problems.size(), 3u);
}

}  // namespace
}  // namespace bulkhead::sandbox
