// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/held_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/testing/temporary_tree.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {
namespace {

using ::testing::HasSubstr;

constexpr size_t kBytes = size_t{1} << 20;
constexpr auto kFirst = HeldFiles::When::kFirst;

// A file that this process maps, as a backend does.
class HeldFilesTest : public testing::Test {
 protected:
  HeldFilesTest() {
    tree_.Write("data", std::string(kBytes, 'x'));
    file_ = ipc::UniqueFd(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    memory_ = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, file_.get(), 0);
  }
  ~HeldFilesTest() override { munmap(memory_, kBytes); }

  // Returns how this process maps the file.
  std::vector<FileMapping> Mappings() const {
    std::vector<FileMapping> all = FileMappings(getpid()).value();
    std::erase_if(all, [&](const FileMapping& mapping) {
      return mapping.range.begin != reinterpret_cast<uint64_t>(memory_);
    });
    return all;
  }
  Status Hold(uint64_t most_bytes = kBytes) {
    Status added = held_.Add(getpid(), Mappings(), most_bytes, kFirst);
    if (!added.ok()) return added;
    for (;;) {
      const auto done = held_.Step();
      if (!done) return done.error();
      if (*done) return Status();
    }
  }
  // Drops the pages that nobody holds, and returns how many there are then.
  size_t Kept() const {
    fsync(file_.get());
    posix_fadvise(file_.get(), 0, 0, POSIX_FADV_DONTNEED);
    std::vector<unsigned char> pages(kBytes / 4096);
    void* const look =
        mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file_.get(), 0);
    EXPECT_EQ(mincore(look, kBytes, pages.data()), 0);
    munmap(look, kBytes);
    return static_cast<size_t>(
        std::ranges::count_if(pages, [](auto page) { return page & 1; }));
  }

  TemporaryTree tree_;
  const std::string path_ = tree_ / "data";
  ipc::UniqueFd file_;
  void* memory_ = nullptr;
  HeldParts parts_;
  HeldFiles held_{parts_};
};

TEST_F(HeldFilesTest, SoManyPartsAreRefused) {
  const FileMapping whole = Mappings().front();
  std::vector<FileMapping> parts;
  const auto add = [&](uint64_t pages) {
    FileMapping part = whole;
    part.offset = 2 * pages * 4096;
    part.range.end = part.range.begin + 4096;
    parts.push_back(part);
  };
  for (uint64_t i = 0; i < 1024; ++i) add(i);
  EXPECT_TRUE(HeldFiles(parts_).Add(getpid(), parts, kBytes * 8, kFirst).ok());
  add(1024);
  const Status refused =
      HeldFiles(parts_).Add(getpid(), parts, kBytes * 8, kFirst);
  EXPECT_EQ(refused.code(), Code::kBackendUnavailable);
  EXPECT_THAT(refused.message(), HasSubstr("1025 parts"));
  // Long names are as dear.
  parts.resize(512);
  for (FileMapping& part : parts) part.path = std::string(1024, 'x');
  EXPECT_FALSE(HeldFiles(parts_).Add(getpid(), parts, kBytes * 8, kFirst).ok());
}

TEST_F(HeldFilesTest, WhatOthersServeIsRefusedOnceTheBackendIsReady) {
  HeldParts remote([](uint64_t) { return true; });
  HeldFiles files(remote);
  const Status refused =
      files.Add(getpid(), Mappings(), kBytes, HeldFiles::When::kLater);
  EXPECT_EQ(refused.code(), Code::kBackendUnavailable);
  EXPECT_THAT(refused.message(), HasSubstr(path_));
  EXPECT_TRUE(files.Add(getpid(), Mappings(), kBytes, kFirst).ok());
  // On this machine's own file systems it goes on.
  EXPECT_TRUE(
      held_.Add(getpid(), Mappings(), kBytes, HeldFiles::When::kLater).ok());
}

TEST_F(HeldFilesTest, WhatIsHeldStaysInMemory) {
  ASSERT_EQ(Mappings().size(), 1u);
  if (Kept() > 0) GTEST_SKIP() << "this file system keeps its files in memory";
  const Status held = Hold();
  ASSERT_TRUE(held.ok()) << held;
  EXPECT_EQ(Kept(), kBytes / 4096);
  // Whoever was looked at has no part in it.
  madvise(memory_, kBytes, MADV_DONTNEED);
  EXPECT_EQ(Kept(), kBytes / 4096);
  EXPECT_TRUE(Hold(0).ok()) << "it is held already";
  { const HeldFiles gone = std::move(held_); }
  EXPECT_EQ(Kept(), 0u);
}

TEST_F(HeldFilesTest, WhatIsHeldForAnotherBackendIsNotMappedAgain) {
  std::optional<HeldFiles> first(std::in_place, parts_);
  ASSERT_TRUE(first->Add(getpid(), Mappings(), kBytes, kFirst).ok());
  const auto own_mappings = [&] {
    return std::ranges::count(FileMappings(getpid()).value(), path_,
                              &FileMapping::path);
  };
  ASSERT_EQ(own_mappings(), 1);
  while (!first->Step().value()) {
  }
  EXPECT_EQ(own_mappings(), 2);
  ASSERT_TRUE(Hold().ok());
  EXPECT_EQ(own_mappings(), 2);
  first.reset();
  EXPECT_EQ(own_mappings(), 2);
  { const HeldFiles gone = std::move(held_); }
  EXPECT_EQ(own_mappings(), 1);
}

TEST_F(HeldFilesTest, AnotherFileOfTheSameNameIsNotBelieved) {
  tree_.Write("other", std::string(kBytes, 'x'));
  const std::vector<FileMapping> before = Mappings();
  std::filesystem::rename(tree_ / "other", path_);
  // As the kernel named the file before it was replaced.
  ASSERT_TRUE(held_.Add(getpid(), before, kBytes, kFirst).ok());
  Result<bool> done = false;
  while (done && !*done) done = held_.Step();
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message(), HasSubstr(path_));
  EXPECT_THAT(done.error().message(), HasSubstr("another file"));
  // The next process does not suffer for it.
  EXPECT_TRUE(held_.Add(getpid(), {}, 0, kFirst).ok());
  EXPECT_EQ(*held_.Step(), true);
}

TEST_F(HeldFilesTest, AFileWithoutANameIsHeldOrNamed) {
  std::filesystem::remove(path_);
  // Whether the kernel opens the files of mappings, as for root outside of user
  // namespaces.
  bool opens = false;
  for (const auto& link :
       std::filesystem::directory_iterator("/proc/self/map_files")) {
    opens |=
        ipc::UniqueFd(open(link.path().c_str(), O_RDONLY | O_CLOEXEC)).get() >=
        0;
  }
  const Status held = Hold();
  if (opens) {
    EXPECT_TRUE(held.ok()) << held;
  } else {
    EXPECT_EQ(held.code(), Code::kBackendUnavailable);
    EXPECT_THAT(held.message(), HasSubstr(path_));
  }
}

TEST_F(HeldFilesTest, TooMuchIsRefused) {
  const Status held = Hold(kBytes - 1);
  EXPECT_EQ(held.code(), Code::kBackendUnavailable);
  EXPECT_THAT(held.message(), HasSubstr("1048576 bytes of files"));
  EXPECT_EQ(*held_.Step(), true) << "nothing of it is held";
}

TEST_F(HeldFilesTest, AFailedAddCountsNothing) {
  EXPECT_FALSE(Hold(kBytes - 1).ok());
  EXPECT_EQ(held_.bytes(), 0u);
  std::vector<FileMapping> long_names = Mappings();
  long_names.front().path = std::string(size_t{256} << 10, 'x') + path_;
  EXPECT_FALSE(held_.Add(getpid(), long_names, kBytes, kFirst).ok());
  EXPECT_TRUE(held_.Add(getpid(), Mappings(), kBytes, kFirst).ok());
  EXPECT_EQ(held_.bytes(), kBytes);
}

TEST_F(HeldFilesTest, PagesAfterTheEndOfAFileAreNone) {
  ASSERT_EQ(truncate(path_.c_str(), 5000), 0);
  const Status held = Hold();
  EXPECT_TRUE(held.ok()) << held;
}

TEST_F(HeldFilesTest, MemoryWithoutAFileIsNotHeld) {
  munmap(memory_, kBytes);
  const ipc::UniqueFd memory(memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(memory.get(), kBytes), 0);
  memory_ = mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, memory.get(), 0);
  ASSERT_EQ(Mappings().size(), 1u);
  EXPECT_TRUE(Hold(0).ok());
}

}  // namespace
}  // namespace bulkhead::sandbox
