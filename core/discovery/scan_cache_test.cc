// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/scan_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::discovery {
namespace {

namespace fs = std::filesystem;
using std::chrono::system_clock;

constexpr char kText[] = "[g]\na = m:x\n";

// Describes everything that a scan says.
std::string Describe(const Scan& scan) {
  std::string text;
  for (const Distribution& d : scan.distributions) {
    text += d.name + "|" + d.version + "|" + d.normalized_name + "|" +
            (d.has_metadata ? "+" : "-") + "|" + d.dist_info_path() + "|" +
            std::to_string(d.place) + "\n";
    for (const EntryPoint& e : d.entry_points) {
      text += "  " + e.group + "|" + e.name + "|" + e.value + "|" +
              e.distribution + "|" + e.version + "|" + e.file + ":" +
              std::to_string(e.line) + "\n";
    }
  }
  for (const Diagnostic& d : scan.diagnostics) text += ToString(d) + "\n";
  for (const SearchedPlace& place : scan.places) {
    text += place.directory.path + ": " + place.outcome + " " +
            std::to_string(place.distributions) + "\n";
  }
  return text;
}

// Waits until the times of later changes differ from earlier ones.
void AwaitTick() {
  timespec before, now;
  clock_gettime(CLOCK_REALTIME_COARSE, &before);
  do {
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
  } while (now.tv_sec == before.tv_sec && now.tv_nsec == before.tv_nsec);
}

// Two places in a tree: a/ with four distributions, b/ with one.
class ScanCacheTest : public ::testing::Test {
 protected:
  ScanCacheTest() {
    for (const char* folder :
         {"a/foo-1.dist-info", "a/bar-1.dist-info", "a/baz-1.dist-info"}) {
      const std::string name = std::string(folder).substr(2, 3);
      tree_.WriteDistribution(folder, name, "1", kText);
    }
    tree_.WriteDistribution("a/plain-1.dist-info", "plain", "1");
    tree_.Write("a/shared.txt", kText);
    tree_.WriteDistribution("a/linked-1.dist-info", "linked", "1");
    tree_.Link("../shared.txt", "a/linked-1.dist-info/entry_points.txt");
    tree_.WriteDistribution("b/foo-2.dist-info", "foo", "2", kText);
    tree_.Write("c/x", "");
  }

  // A clock by which everything that was written has been there for long.
  static system_clock::time_point Later() {
    return system_clock::now() + std::chrono::hours(1);
  }

  TemporaryTree tree_;
  std::vector<SearchDirectory> path_ = {
      {tree_ / "missing", "t"}, {tree_ / "a", "t"}, {tree_ / "b", "t"}};
  ScanCache cache_{{}, Later};
};

TEST_F(ScanCacheTest, WhatDidNotChangeIsNotRead) {
  const auto first = cache_.Rescan(path_);
  EXPECT_EQ(cache_.folders_read(), 6u);
  EXPECT_EQ(Describe(*first), Describe(ScanPluginPath(path_)));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(cache_.Rescan(path_), first);
    // The file with a link.
    EXPECT_EQ(cache_.folders_read(), 1u);
  }
}

TEST_F(ScanCacheTest, OnlyWhatChangedIsRead) {
  const auto first = cache_.Rescan(path_);
  AwaitTick();
  tree_.Write("a/foo-1.dist-info/entry_points.txt", "[g]\nb = m:x\n");
  const auto second = cache_.Rescan(path_);
  EXPECT_EQ(cache_.folders_read(), 2u);
  EXPECT_NE(second, first);
  tree_.WriteDistribution("a/new-1.dist-info", "new", "1");
  EXPECT_NE(cache_.Rescan(path_), second);
  EXPECT_EQ(cache_.folders_read(), 2u);
}

TEST_F(ScanCacheTest, EveryKindOfChangeIsSeen) {
  const auto write = [this](const std::string& file, const std::string& text) {
    return [=, this] { tree_.Write(file, text); };
  };
  const auto remove = [this](const std::string& path) {
    return [=, this] { tree_.Remove(path); };
  };
  const auto rename = [this](const std::string& from, const std::string& to) {
    return [=, this] { fs::rename(tree_ / from, tree_ / to); };
  };
  const std::string foo = "a/foo-1.dist-info";
  const std::string file = foo + "/entry_points.txt";
  const struct {
    const char* name;
    std::function<void()> Change;
  } kChanges[] = {
      {"edited, same size, time of modification restored",
       [&] {
         struct stat info;
         ASSERT_EQ(stat((tree_ / file).c_str(), &info), 0);
         std::fstream(tree_ / file).seekp(4).put('z');
         const timespec times[] = {info.st_atim, info.st_mtim};
         ASSERT_EQ(utimensat(AT_FDCWD, (tree_ / file).c_str(), times, 0), 0);
       }},
      {"replaced by renaming, same size, same time of modification",
       [&] {
         struct stat info;
         ASSERT_EQ(stat((tree_ / file).c_str(), &info), 0);
         tree_.Write("new", "[g]\ny = m:x\n");
         const timespec times[] = {info.st_atim, info.st_mtim};
         ASSERT_EQ(utimensat(AT_FDCWD, (tree_ / "new").c_str(), times, 0), 0);
         fs::rename(tree_ / "new", tree_ / file);
       }},
      {"only a line's number", write(file, "\n[g]\ny = m:x\n")},
      {"appended",
       [&] { std::ofstream(tree_ / file, std::ios::app) << "q=r"; }},
      {"METADATA edited", write(foo + "/METADATA", "Name: FOO\nVersion: 1.0")},
      {"METADATA removed", remove(foo + "/METADATA")},
      {"METADATA added", write(foo + "/METADATA", "Name: foo\nVersion: 1")},
      {"entry_points.txt removed", remove(file)},
      {"entry_points.txt added", write(file, kText)},
      {"made a FIFO",
       [&] {
         tree_.Remove(file);
         ASSERT_EQ(mkfifo((tree_ / file).c_str(), 0600), 0);
       }},
      {"made good again",
       [&] {
         tree_.Remove(file);
         tree_.Write(file, kText);
       }},
      {"made too big",
       [&] { ASSERT_EQ(truncate((tree_ / file).c_str(), 9 << 20), 0); }},
      {"made small",
       [&] { ASSERT_EQ(truncate((tree_ / file).c_str(), 12), 0); }},
      {"distribution added",
       [&] {
         tree_.WriteDistribution("a/new-1.dist-info", "new", "1", kText);
       }},
      {"distribution renamed", rename("a/new-1.dist-info", "a/n-1.dist-info")},
      {"distribution replaced",
       [&] {
         tree_.WriteDistribution("new", "n", "1", "[h]\nq = r:s\n");
         fs::rename(tree_ / "a/n-1.dist-info", tree_ / "old");
         fs::rename(tree_ / "new", tree_ / "a/n-1.dist-info");
       }},
      {"distribution made a link",
       [&] {
         fs::rename(tree_ / "a/n-1.dist-info", tree_ / "a/elsewhere");
         tree_.Link("/etc", "a/n-1.dist-info");
       }},
      {"link led elsewhere",
       [&] {
         tree_.Remove("a/n-1.dist-info");
         tree_.Link("elsewhere", "a/n-1.dist-info");
       }},
      {"what it leads to edited", write("a/elsewhere/entry_points.txt", "[g]")},
      {"link to the same by a way that is refused",
       [&] {
         tree_.Remove("a/n-1.dist-info");
         tree_.Link(tree_ / "a/elsewhere", "a/n-1.dist-info");
       }},
      {"distribution removed", remove("a/n-1.dist-info")},
      {"a linked file's target edited", write("a/shared.txt", "[g]\nl = m:x")},
      {"a linked file led elsewhere",
       [&] {
         tree_.Write("a/other.txt", "[g]\nk = m:x");
         tree_.Remove("a/linked-1.dist-info/entry_points.txt");
         tree_.Link("../other.txt", "a/linked-1.dist-info/entry_points.txt");
       }},
      {"a higher version beside it",
       [&] { tree_.WriteDistribution("a/Bar-2.dist-info", "bar", "2"); }},
      {"it is gone", remove("a/Bar-2.dist-info")},
      {"something that is ignored", write("a/X-1.DIST-INFO/METADATA", "")},
      {"pip's leftover", rename("a/baz-1.dist-info", "a/~az-1.dist-info")},
      {"a directory appears first on the path",
       [&] {
         tree_.WriteDistribution("missing/foo-0.dist-info", "foo", "0", kText);
       }},
      {"the directory replaced",
       [&] {
         fs::rename(tree_ / "a", tree_ / "old_a");
         fs::rename(tree_ / "c", tree_ / "a");
       }},
      {"and put back",
       [&] {
         fs::rename(tree_ / "a", tree_ / "c");
         fs::rename(tree_ / "old_a", tree_ / "a");
       }},
      {"the directory made another's link",
       [&] {
         tree_.Remove("missing");
         tree_.Link("b", "missing");
       }},
      {"the directory made a file",
       [&] {
         tree_.Remove("missing");
         tree_.Write("missing", "");
       }},
      {"the path reversed", [&] { std::swap(path_[1], path_[2]); }},
      {"the path shortened", [&] { path_.erase(path_.begin()); }},
      {"the path lengthened",
       [&] {
         path_.insert(path_.begin(), {tree_ / "c", "t"});
       }},
      {"another origin", [&] { path_[0].origin = "u"; }},
      {"the directory removed", remove("a")},
  };
  auto scan = cache_.Rescan(path_);
  for (const auto& change : kChanges) {
    AwaitTick();
    change.Change();
    const auto before = std::exchange(scan, cache_.Rescan(path_));
    ASSERT_EQ(Describe(*scan), Describe(ScanPluginPath(path_))) << change.name;
    EXPECT_NE(scan, before) << change.name;
    EXPECT_EQ(cache_.Rescan(path_), scan) << change.name;
    EXPECT_EQ(cache_.Rescan(path_), scan) << change.name;
  }
}

TEST_F(ScanCacheTest, AScanStaysAsItWas) {
  const auto first = cache_.Rescan(path_);
  const std::string described = Describe(*first);
  tree_.Remove("a");
  EXPECT_NE(cache_.Rescan(path_), first);
  EXPECT_EQ(Describe(*first), described);
}

// A write through a mapping need not advance the times. It stands for a second
// change within one tick of the clock.
TEST_F(ScanCacheTest, WhatIsTooYoungIsReadAgain) {
  const std::string file = tree_ / "b/foo-2.dist-info/entry_points.txt";
  const ipc::UniqueFd fd(open(file.c_str(), O_RDWR | O_CLOEXEC));
  void* mapping =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  ASSERT_NE(mapping, MAP_FAILED);
  char* text = static_cast<char*>(mapping);
  text[4] = 'b';

  struct stat info;
  ASSERT_EQ(fstat(fd.get(), &info), 0);
  std::chrono::nanoseconds age{};
  ScanCache cache({}, [&] {
    return system_clock::time_point(
        std::chrono::seconds(info.st_ctim.tv_sec) +
        std::chrono::nanoseconds(info.st_ctim.tv_nsec) + age);
  });
  const std::vector<SearchDirectory> path = {{tree_ / "b", "t"}};
  const auto name_of_first = [&] {
    return cache.Rescan(path)->distributions[0].entry_points[0].name;
  };
  for (const auto young :
       {std::chrono::nanoseconds(-1000000000), std::chrono::nanoseconds(0),
        std::chrono::nanoseconds(ScanCache::kTrustedAge)}) {
    age = young;
    for (const char name : {'c', 'd'}) {
      text[4] = name;
      EXPECT_EQ(name_of_first(), std::string(1, name));
      EXPECT_EQ(cache.folders_read(), 1u);
    }
  }
  // bound: nothing waits, the test makes the age up.
  age = ScanCache::kTrustedAge + std::chrono::nanoseconds(1);
  name_of_first();
  // Read once more when old enough. From then on the times are trusted.
  name_of_first();
  EXPECT_EQ(cache.folders_read(), 0u);
  munmap(mapping, 4096);
}

TEST_F(ScanCacheTest, WhatIsBrokenIsReadEachTimeAndChangesNothing) {
  ASSERT_EQ(mkfifo((tree_ / "b/fifo-1.dist-info").c_str(), 0600), 0);
  tree_.WriteDistribution("b/bad-1.dist-info", "bad", "1", "nonsense\n");
  const std::vector<SearchDirectory> path = {{tree_ / "b", "t"}};
  const auto scan = cache_.Rescan(path);
  EXPECT_EQ(cache_.Rescan(path), scan);
  EXPECT_EQ(cache_.folders_read(), 2u);
}

TEST_F(ScanCacheTest, OfOtherGroupsMetadataDoesNotCount) {
  tree_.WriteDistribution("a/ours-1.dist-info", "ours", "1", "[h]\na = m:x\n");
  ScanCache cache({.group = "h"}, Later);
  const auto scan = cache.Rescan(path_);
  AwaitTick();
  tree_.Write("a/foo-1.dist-info/METADATA", "Name: Foo\nVersion: 1.0\n");
  EXPECT_EQ(cache.Rescan(path_), scan);
  tree_.Write("a/ours-1.dist-info/METADATA", "Name: Ours\nVersion: 1.0\n");
  EXPECT_NE(cache.Rescan(path_), scan);
  // The distribution has an entry point of the group now.
  tree_.Write("a/foo-1.dist-info/entry_points.txt", "[h]\nb = m:x\n");
  EXPECT_EQ(Describe(*cache.Rescan(path_)),
            Describe(ScanPluginPath(path_, {.group = "h"})));
}

// Installs, removes, edits and breaks things at random.
class Mutator {
 public:
  Mutator(const TemporaryTree& tree, unsigned seed)
      : tree_(tree), random_(seed) {}

  // In a/, besides those that break: 8 names in each of 3 places.
  static constexpr int kGoodOnes = 30;
  static constexpr size_t kMaxOthers = 24 + 5;

  std::string Mutate() {
    const std::string place = Pick({"a", "b", "missing"});
    const std::string folder = place + "/" +
                               Pick({"foo", "Foo", "bar", "~ar"}) +
                               Pick({"-1", "-2"}) + ".dist-info";
    const std::string file =
        folder + "/" + Pick({"METADATA", "entry_points.txt"});
    const std::string what = Pick({"install", "edit", "edit good one", "touch",
                                   "remove file", "remove", "rename", "link",
                                   "link file", "break", "remove place"});
    std::error_code ignored;
    if (what == "edit good one") {
      WriteIfPossible("a/good" + std::to_string(random_() % kGoodOnes) +
                          "-1.dist-info/entry_points.txt",
                      EntryPointsText());
    } else if (what == "install") {
      if (!fs::is_symlink(tree_ / folder)) tree_.Remove(folder);
      WriteIfPossible(folder + "/METADATA", Metadata());
      WriteIfPossible(folder + "/entry_points.txt", EntryPointsText());
    } else if (what == "edit") {
      WriteIfPossible(file,
                      file.ends_with("A") ? Metadata() : EntryPointsText());
    } else if (what == "touch") {
      fs::last_write_time(tree_ / file, fs::file_time_type(), ignored);
    } else if (what == "remove file") {
      fs::remove_all(tree_ / file, ignored);
    } else if (what == "remove") {
      tree_.Remove(folder);
    } else if (what == "rename") {
      fs::rename(tree_ / folder,
                 tree_ / (place + "/" + Pick({"foo", "bar"}) + "-1.dist-info"),
                 ignored);
    } else if (what == "link") {
      fs::create_symlink(Pick({"foo-1.dist-info", "../b", "/etc"}),
                         tree_ / folder, ignored);
    } else if (what == "link file") {
      fs::create_symlink(Pick({"METADATA", "../../b/x", "../foo-1.dist-info"}),
                         tree_ / file, ignored);
    } else if (what == "break") {
      fs::remove_all(tree_ / file, ignored);
      if (Pick({"0", "1"}) == "0") {
        fs::create_directory(tree_ / file, ignored);
      } else {
        mkfifo((tree_ / file).c_str(), 0600);
      }
    } else if (place != "a") {
      tree_.Remove(place);
    }
    return what + " " + file;
  }

 private:
  std::string Pick(const std::vector<std::string>& from) {
    return from[random_() % from.size()];
  }
  // Few sizes, so that an edit often keeps the size.
  std::string Metadata() {
    return "Name: " + Pick({"foo", "Foo", "bar", "b_r"}) +
           "\nVersion: " + Pick({"1", "2", "3"}) + "\n" + Pick({"", "\n"});
  }
  std::string EntryPointsText() {
    return Pick({"[g]", "[h]"}) + "\n" + Pick({"a", "b", "c"}) + " = " +
           Pick({"m:x", "m:y", "m y"}) + "\n";
  }
  void WriteIfPossible(const std::string& file, const std::string& text) {
    // Opening a FIFO would block, and a link would lead out.
    std::error_code ignored;
    const fs::file_status status = fs::symlink_status(tree_ / file, ignored);
    const fs::path folder = fs::path(tree_ / file).parent_path();
    if (fs::exists(status) && !fs::is_regular_file(status)) return;
    if (fs::is_symlink(folder)) return;
    fs::create_directories(folder, ignored);
    std::ofstream(tree_ / file, std::ios::binary) << text;
  }

  const TemporaryTree& tree_;
  std::mt19937 random_;
};

TEST_F(ScanCacheTest, AFullDirectoryIsReadInTurnsAndHidesNothing) {
  TemporaryTree full;
  constexpr size_t kMost = 100;
  for (size_t i = 0; i < kMost + 9; ++i) {
    fs::create_directory(full / ("a" + std::to_string(i) + "-1.dist-info"));
  }
  full.WriteDistribution("z-1.dist-info", "z", "1", kText);
  const std::vector<SearchDirectory> path = {{full.path(), "test"}};
  ScanCache cache({.group = "g", .max_folders = kMost}, Later);
  const auto first = cache.Rescan(path);
  EXPECT_EQ(cache.folders_read(), kMost);
  EXPECT_EQ(cache.unread(), 10u);
  ASSERT_EQ(first->diagnostics.size(), 1u);
  EXPECT_EQ(first->diagnostics[0].file, full.path());
  const auto second = cache.Rescan(path);
  EXPECT_EQ(cache.unread(), 0u);
  EXPECT_TRUE(second->diagnostics.empty());
  EXPECT_EQ(second->distributions.back().entry_points.size(), 1u);

  // Bulkhead's own directories have no bound.
  ScanCache own({.group = "g", .max_folders = kMost}, Later);
  EXPECT_EQ(
      own.Rescan({{full.path(), "test", true}})->distributions.back().name,
      "z");
}

TEST_F(ScanCacheTest, LargeFilesAreReadInTurns) {
  TemporaryTree full;
  constexpr size_t kLarge = size_t{1} << 20;
  constexpr size_t kFiles = 2 * ScanCache::kMaxBytes / kLarge;
  for (size_t i = 0; i < kFiles; ++i) {
    const std::string file =
        "a" + std::to_string(i) + "-1.dist-info/entry_points.txt";
    full.Write(file, "");
    fs::resize_file(full / file, kLarge);
  }
  ScanCache cache({.group = "g"}, Later);
  cache.Rescan({{full.path(), "test"}});
  EXPECT_EQ(cache.folders_read(), kFiles / 2);
  EXPECT_EQ(cache.unread(), kFiles / 2);
  cache.Rescan({{full.path(), "test"}});
  EXPECT_EQ(cache.unread(), 0u);
}

TEST_F(ScanCacheTest, EqualsAFreshScanAfterAnyChanges) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::printf("seed %u\n", seed);
  for (int i = 0; i < Mutator::kGoodOnes; ++i) {
    const std::string name = "good" + std::to_string(i);
    tree_.WriteDistribution("a/" + name + "-1.dist-info", name, "1", kText);
  }
  Mutator mutator(tree_, seed);
  std::mt19937 random(seed + 1);
  ScanCache of_group({.group = "g"}, Later);
  ScanCache by_real_clock;
  std::string before;
  std::shared_ptr<const Scan> last;
  size_t read = 0;
  for (int i = 0; i < 300; ++i) {
    AwaitTick();
    std::string what;
    for (unsigned n = random() % 4; n > 0; --n) what += mutator.Mutate() + "; ";
    const std::string fresh = Describe(ScanPluginPath(path_));
    const auto scan = cache_.Rescan(path_);
    ASSERT_EQ(Describe(*scan), fresh) << what;
    ASSERT_EQ(scan == last, fresh == before) << what;
    ASSERT_EQ(Describe(*by_real_clock.Rescan(path_)), fresh) << what;
    ASSERT_EQ(Describe(*of_group.Rescan(path_)),
              Describe(ScanPluginPath(path_, {.group = "g"})))
        << what;
    before = fresh;
    last = scan;
    read += cache_.folders_read();
  }
  // The test proves little unless something came from memory.
  EXPECT_LT(read, 300 * (Mutator::kMaxOthers + 5));
}

}  // namespace
}  // namespace bulkhead::discovery
