// SPDX-License-Identifier: Apache-2.0
#include "core/crashes/crash_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::crashes {
namespace {

namespace fs = std::filesystem;

class CrashStoreTest : public testing::Test {
 protected:
  static Crash Called(const std::string& cause) {
    Crash crash;
    crash.backend.name = "acme";
    crash.cause = cause;
    return crash;
  }
  size_t Files() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& file :
         fs::directory_iterator(tree_ / "state/crashes")) {
      ++count;
    }
    return count;
  }

  TemporaryTree tree_;
  CrashStore store_{tree_ / "state"};
};

TEST_F(CrashStoreTest, RecordsAreNumberedAndReadBack) {
  EXPECT_TRUE(store_.ReadAll().value().crashes.empty());
  EXPECT_EQ(store_.Add(Called("one")).value(), 1u);
  EXPECT_EQ(store_.Add(Called("two")).value(), 2u);
  EXPECT_EQ(store_.Read(2).value().cause, "two");
  EXPECT_EQ(store_.Read(3).error().code(), Code::kNotFound);
  EXPECT_EQ(store_.Read(UINT64_MAX).error().code(), Code::kNotFound);
  EXPECT_TRUE(store_.SetOutcome(1, "recovered").ok());
  const CrashList list = store_.ReadAll().value();
  ASSERT_EQ(list.crashes.size(), 2u);
  EXPECT_EQ(list.crashes[0].outcome, "recovered");
  EXPECT_EQ(list.crashes[1].outcome, "");
}

TEST_F(CrashStoreTest, TheOldestGoWhenThereAreTooMany) {
  const size_t added = CrashStore::kMaxRecords + 10;
  for (size_t i = 1; i <= added; ++i) {
    ASSERT_EQ(store_.Add(Called("x")).value(), i);
  }
  EXPECT_EQ(Files(), CrashStore::kMaxRecords);
  EXPECT_EQ(store_.Read(10).error().code(), Code::kNotFound);
  EXPECT_TRUE(store_.Read(11));
}

TEST_F(CrashStoreTest, ARecordIsNeverLargerThanItsBound) {
  Crash crash = Called(std::string(30'000, 'c'));
  crash.log.assign(100, std::string(1'000, 'l'));
  crash.request.backend_options = {{"k", std::string(100'000, 'v')}};
  const uint64_t number = store_.Add(crash).value();
  EXPECT_LE(fs::file_size(tree_ / "state/crashes/crash-000000001.json"),
            CrashStore::kMaxBytes);
  EXPECT_FALSE(store_.Read(number).value().request.complete);
}

TEST_F(CrashStoreTest, ClearedNumbersAreNotUsedAgain) {
  (void)store_.Add(Called("one"));
  (void)store_.Add(Called("two"));
  EXPECT_TRUE(store_.Clear().ok());
  EXPECT_TRUE(store_.ReadAll().value().crashes.empty());
  EXPECT_FALSE(store_.SetOutcome(2, "recovered").ok());
  EXPECT_EQ(store_.Add(Called("three")).value(), 3u);
}

TEST_F(CrashStoreTest, WritersAtTheSameTimeLoseNothing) {
  constexpr size_t kWriters = 4;
  constexpr size_t kEach = 40;
  std::vector<std::vector<uint64_t>> numbers(kWriters);
  std::vector<std::thread> writers;
  for (size_t w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      const CrashStore store(tree_ / "state");
      for (size_t i = 0; i < kEach; ++i) {
        const auto number =
            store.Add(Called(std::to_string(w) + "/" + std::to_string(i)));
        if (number) numbers[w].push_back(*number);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  std::set<uint64_t> all;
  for (size_t w = 0; w < kWriters; ++w) {
    ASSERT_EQ(numbers[w].size(), kEach);
    for (size_t i = 0; i < kEach; ++i) {
      EXPECT_TRUE(all.insert(numbers[w][i]).second);
      EXPECT_EQ(store_.Read(numbers[w][i]).value().cause,
                std::to_string(w) + "/" + std::to_string(i));
    }
  }
  EXPECT_EQ(Files(), kWriters * kEach);
}

TEST_F(CrashStoreTest, WhatIsNoRecordIsToldOfAndInNobodysWay) {
  (void)store_.Add(Called("one"));
  const std::string folder = "state/crashes/";
  tree_.Write(folder + "crash-000000002.json", "{\"schema\": 1, \"num");
  tree_.Write(folder + "crash-000000003.json", std::string(100'000, ' '));
  tree_.Write(folder + "crash-99999999999999999999.json", "{}");
  tree_.Write(folder + "crash-", "");
  tree_.Link("/etc/passwd", folder + "crash-000000004.json");
  ASSERT_EQ(::mkfifo((tree_ / (folder + "crash-000000005.json")).c_str(), 0600),
            0);
  fs::create_directory(tree_ / (folder + "crash-000000006.json"));
  fs::copy_file(tree_ / (folder + "crash-000000001.json"),
                tree_ / (folder + "crash-000000007.json"));
  const CrashList list = store_.ReadAll().value();
  EXPECT_EQ(list.crashes.size(), 1u);
  EXPECT_EQ(list.diagnostics.size(), 8u);
  EXPECT_EQ(store_.Read(2).error().code(), Code::kBadInput);
  EXPECT_EQ(store_.Add(Called("eight")).value(), 8u);
}

TEST_F(CrashStoreTest, UsedUpNumbersRefuseInsteadOfWrapping) {
  tree_.Write("state/crashes/crash-999999999.json", "");
  fs::permissions(tree_ / "state", fs::perms(0700));
  EXPECT_EQ(store_.Add(Called("x")).error().code(), Code::kResourceExhausted);
  EXPECT_TRUE(store_.Clear().ok());
  EXPECT_EQ(store_.Add(Called("x")).value(), 1u);
}

TEST_F(CrashStoreTest, WithoutADirectoryOrInOneOfOthersThereIsNone) {
  const CrashStore none("");
  EXPECT_FALSE(none.Add(Called("x")));
  EXPECT_TRUE(none.ReadAll().value().crashes.empty());
  EXPECT_TRUE(none.Clear().ok());
  (void)store_.Add(Called("one"));
  fs::permissions(tree_ / "state", fs::perms(0777));
  EXPECT_EQ(store_.ReadAll().error().code(), Code::kInvalidArgument);
  EXPECT_FALSE(store_.Add(Called("x")));
}

}  // namespace
}  // namespace bulkhead::crashes
