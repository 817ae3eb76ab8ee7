// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/testing/temporary_tree.h"
#include "core/discovery/scan.h"

namespace bulkhead::discovery {
namespace {

constexpr char kGood[] = "[g]\na = m:x\n";
constexpr int kGoodOnes = 50;

void WriteGoodOnes(const TemporaryTree& tree) {
  for (int i = 0; i < kGoodOnes; ++i) {
    const std::string name = "good" + std::to_string(i);
    tree.WriteDistribution(name + "-1.dist-info", name, "1", kGood);
  }
}

int GoodOnes(const Scan& scan) {
  return static_cast<int>(
      std::count_if(scan.distributions.begin(), scan.distributions.end(),
                    [](const Distribution& distribution) {
                      return distribution.name.starts_with("good") &&
                             distribution.version == "1" &&
                             distribution.entry_points.size() == 1;
                    }));
}

void MakeSparse(const std::string& path) {
  ASSERT_EQ(truncate(path.c_str(), 100 << 20), 0);
}

// A way to break the distribution in `folder`, a path below the tree.
struct Breakage {
  const char* name;
  std::function<void(const TemporaryTree&, const std::string& folder)> Break;
};

// Ways to break one file of a distribution that is otherwise good.
std::vector<Breakage> FileBreakages(const std::string& file) {
  const auto below = [file](const std::string& folder) {
    return folder + "/" + file;
  };
  const auto link = [below](const std::string& target) {
    return [=](const TemporaryTree& tree, const std::string& folder) {
      tree.Remove(below(folder));
      tree.Link(target, below(folder));
    };
  };
  const auto contents = [below](const std::string& text) {
    return [=](const TemporaryTree& tree, const std::string& folder) {
      tree.Write(below(folder), text);
    };
  };
  const auto node = [below](mode_t mode, dev_t device) {
    return [=](const TemporaryTree& tree, const std::string& folder) {
      tree.Remove(below(folder));
      if (mknod((tree / below(folder)).c_str(), mode | 0600, device) != 0) {
        // Only root can make devices; a socket is refused for the same reason.
        ASSERT_EQ(mknod((tree / below(folder)).c_str(), S_IFSOCK | 0600, 0), 0);
      }
    };
  };
  return {
      {"fifo", node(S_IFIFO, 0)},
      {"device", node(S_IFCHR, makedev(1, 5))},
      {"socket", node(S_IFSOCK, 0)},
      {"loop", link(file)},
      {"dangling", link("nothing")},
      {"out", link("/etc/passwd")},
      {"up", link("../../../../../etc/passwd")},
      {"proc", link("/proc/self/fd/0")},
      {"directory",
       [below](const TemporaryTree& tree, const std::string& folder) {
         tree.Remove(below(folder));
         std::filesystem::create_directory(tree / below(folder));
       }},
      {"big",
       [below](const TemporaryTree& tree, const std::string& folder) {
         MakeSparse(tree / below(folder));
       }},
      {"not_utf8", contents("\xff\xfe = \xff\n")},
      {"nul", contents(std::string("[g]\na\0b = m:x\n", 14))},
      {"line_without_equals", contents("nonsense\n")},
  };
}

std::vector<Breakage> FolderBreakages() {
  const auto link = [](const std::string& target) {
    return [=](const TemporaryTree& tree, const std::string& folder) {
      tree.Remove(folder);
      tree.Link(target, folder);
    };
  };
  return {
      {"a_file",
       [](const TemporaryTree& tree, const std::string& folder) {
         tree.Remove(folder);
         tree.Write(folder, "");
       }},
      {"a_fifo",
       [](const TemporaryTree& tree, const std::string& folder) {
         tree.Remove(folder);
         ASSERT_EQ(mkfifo((tree / folder).c_str(), 0600), 0);
       }},
      {"linked_out", link("/etc")},
      {"linked_up", link("..")},
      {"linked_nowhere", link("nothing")},
      {"linked_to_a_file", link("good0-1.dist-info/METADATA")},
      {"empty",
       [](const TemporaryTree& tree, const std::string& folder) {
         tree.Remove(folder);
         std::filesystem::create_directory(tree / folder);
       }},
  };
}

TEST(HostileScanTest, NoBrokenDistributionHidesAGoodOne) {
  const TemporaryTree tree;
  WriteGoodOnes(tree);
  std::vector<std::string> broken;
  const auto add = [&](const std::string& prefix,
                       const std::vector<Breakage>& breakages) {
    for (const Breakage& breakage : breakages) {
      const std::string name = prefix + breakage.name;
      const std::string folder = name + "-1.dist-info";
      tree.WriteDistribution(folder, name, "1", kGood);
      breakage.Break(tree, folder);
      broken.push_back(folder);
    }
  };
  add("entry_points_", FileBreakages("entry_points.txt"));
  add("metadata_", FileBreakages("METADATA"));
  add("folder_", FolderBreakages());
  for (const char* folder : {"~oo-1.dist-info", "-1.0.dist-info", ".dist-info",
                             "sp ace-1.dist-info", "CASE-1.DIST-INFO"}) {
    tree.WriteDistribution(folder, "foo", "1", kGood);
    broken.push_back(folder);
  }

  const Scan scan = ScanPluginPath({{tree.path(), "t"}});
  EXPECT_EQ(GoodOnes(scan), kGoodOnes);
  for (const std::string& folder : broken) {
    EXPECT_TRUE(std::any_of(
        scan.diagnostics.begin(), scan.diagnostics.end(),
        [&](const Diagnostic& diagnostic) {
          return (diagnostic.file + "/").starts_with(tree / folder + "/") &&
                 !diagnostic.message.empty();
        }))
        << folder;
  }
  for (const Diagnostic& diagnostic : scan.diagnostics) {
    EXPECT_FALSE(diagnostic.file.starts_with(tree / "good"))
        << ToString(diagnostic);
  }
  // With a bad METADATA the entry points are used under the folder's name.
  const auto fifo = std::find_if(
      scan.distributions.begin(), scan.distributions.end(),
      [](const Distribution& d) { return d.name == "metadata_fifo"; });
  ASSERT_NE(fifo, scan.distributions.end());
  EXPECT_EQ(fifo->entry_points.size(), 1u);
}

TEST(HostileScanTest, ABrokenPlaceDoesNotHideTheNext) {
  const TemporaryTree tree, good;
  WriteGoodOnes(good);
  tree.Write("file", "");
  ASSERT_EQ(mkfifo((tree / "fifo").c_str(), 0600), 0);
  tree.Link("loop", "loop");
  tree.Link("nothing", "dangling");
  std::vector<SearchDirectory> path;
  for (const char* name : {"file", "fifo", "loop", "dangling", "missing"}) {
    path.push_back({tree / name, "t"});
  }
  path.push_back({tree / std::string(5000, 'x'), "t"});
  path.push_back({good.path(), "t"});
  const Scan scan = ScanPluginPath(path);
  EXPECT_EQ(GoodOnes(scan), kGoodOnes);
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    EXPECT_FALSE(scan.places[i].searched);
    EXPECT_FALSE(scan.places[i].outcome.empty());
  }
  // About file, fifo, loop and the overlong name: the others do not exist.
  EXPECT_EQ(scan.diagnostics.size(), 4u);
}

TEST(HostileScanTest, WhatMayNotBeReadIsSaidToBeSo) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TemporaryTree tree;
  WriteGoodOnes(tree);
  tree.WriteDistribution("folder-1.dist-info", "folder", "1", kGood);
  tree.WriteDistribution("file-1.dist-info", "file", "1", kGood);
  tree.Write("place/x", "");
  ASSERT_EQ(chmod((tree / "folder-1.dist-info").c_str(), 0), 0);
  ASSERT_EQ(chmod((tree / "file-1.dist-info/entry_points.txt").c_str(), 0), 0);
  ASSERT_EQ(chmod((tree / "place").c_str(), 0), 0);
  const Scan scan = ScanPluginPath({{tree / "place", "t"}, {tree.path(), "t"}});
  EXPECT_EQ(GoodOnes(scan), kGoodOnes);
  EXPECT_FALSE(scan.places[0].searched);
  EXPECT_GE(scan.diagnostics.size(), 3u);
  ASSERT_EQ(chmod((tree / "folder-1.dist-info").c_str(), 0700), 0);
}

// Every scan sees each distribution that stays, whatever others come and go.
TEST(HostileScanTest, WhatVanishesMeanwhileTakesNothingAlong) {
  const TemporaryTree tree;
  WriteGoodOnes(tree);
  std::atomic<bool> done = false;
  std::thread mover([&] {
    for (int i = 0; !done; ++i) {
      const std::string folder =
          "moving" + std::to_string(i % 10) + "-1.dist-info";
      tree.WriteDistribution(folder, "moving", "1", kGood);
      tree.Remove(folder + "/METADATA");
      tree.Remove(folder);
      tree.Link("good1-1.dist-info", folder);
      tree.Remove(folder);
      tree.Write(folder, "a file");
      tree.Remove(folder);
    }
  });
  for (int i = 0; i < 300; ++i) {
    const Scan scan = ScanPluginPath({{tree.path(), "t"}});
    ASSERT_EQ(GoodOnes(scan), kGoodOnes);
    for (const Diagnostic& diagnostic : scan.diagnostics) {
      ASSERT_TRUE(diagnostic.file.starts_with(tree / "moving"))
          << ToString(diagnostic);
    }
  }
  done = true;
  mover.join();
}

TEST(HostileScanTest, APlaceThatVanishesIsEmptyOrWhole) {
  const TemporaryTree tree;
  WriteGoodOnes(tree);
  std::atomic<bool> done = false;
  std::filesystem::create_directory(tree / "a");
  std::thread mover([&] {
    while (!done) {
      std::filesystem::rename(tree / "a", tree / "b");
      std::filesystem::rename(tree / "b", tree / "a");
    }
  });
  for (int i = 0; i < 300; ++i) {
    const Scan scan = ScanPluginPath({{tree / "a", "t"}, {tree.path(), "t"}});
    ASSERT_EQ(GoodOnes(scan), kGoodOnes);
    ASSERT_TRUE(scan.diagnostics.empty());
  }
  done = true;
  mover.join();
}

}  // namespace
}  // namespace bulkhead::discovery
