// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/blame/quarantine_records.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::blame {
namespace {

namespace fs = std::filesystem;

class QuarantineRecordsTest : public testing::Test {
 protected:
  QuarantineRecord RecordOf(const std::string& name) const {
    return {.backend = "acme",
            .path = tree_ / name,
            .bytes = 5,
            .modified_ns = 1'700'000'000'123'456'789,
            .hash = "sha256=abc",
            .code = Code::kBackendMisbehaved,
            .reason = "it \"lied\""};
  }
  fs::path OnlyFile() const {
    return fs::directory_iterator(tree_ / "state")->path();
  }

  TemporaryTree tree_;
  QuarantineRecords records_{tree_ / "state"};
};

TEST_F(QuarantineRecordsTest, ARecordIsFoundByAnyProcessUntilItIsLifted) {
  const QuarantineRecord record = RecordOf("a.so");
  EXPECT_FALSE(records_.Find(record.path));
  EXPECT_FALSE(fs::exists(tree_ / "state"));
  ASSERT_TRUE(records_.Add(record).ok());
  QuarantineRecords others(tree_ / "state");
  EXPECT_EQ(others.Find(record.path), record);
  EXPECT_FALSE(others.Find(tree_ / "b.so"));
  ASSERT_TRUE(others.Lift(record.path).ok());
  ASSERT_TRUE(others.Lift(record.path).ok());
  EXPECT_FALSE(records_.Find(record.path));
  EXPECT_TRUE(records_.diagnostics().empty());
}

TEST_F(QuarantineRecordsTest, AllThatMayHoldAreListedAndLiftedByName) {
  tree_.Write("there.so", "12345");
  struct stat info;
  ASSERT_EQ(::stat((tree_ / "there.so").c_str(), &info), 0);
  QuarantineRecord holds = RecordOf("there.so");
  holds.modified_ns =
      info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
  holds.libraries_ns = LibrariesChangedNs();
  ASSERT_TRUE(records_.Add(holds).ok());
  ASSERT_TRUE(records_.Add(RecordOf("gone.so")).ok());
  EXPECT_EQ(records_.All(), std::vector{holds});
  EXPECT_FALSE(records_.LiftNamed("another"));
  EXPECT_TRUE(records_.LiftNamed("acme"));
  EXPECT_FALSE(records_.LiftNamed("acme"));
  EXPECT_TRUE(records_.All().empty());

  // One that differs in any of these is of another object.
  for (const auto part :
       {+[](QuarantineRecord& record) { ++record.libraries_ns; },
        +[](QuarantineRecord& record) { ++record.modified_ns; },
        +[](QuarantineRecord& record) { ++record.bytes; }}) {
    QuarantineRecord differs = holds;
    part(differs);
    ASSERT_TRUE(records_.Add(differs).ok());
    EXPECT_TRUE(records_.All().empty());
  }
}

TEST_F(QuarantineRecordsTest, WithoutADirectoryNothingIsKept) {
  QuarantineRecords nowhere("");
  EXPECT_TRUE(nowhere.Add(RecordOf("a.so")).ok());
  EXPECT_FALSE(nowhere.Find(tree_ / "a.so"));
  EXPECT_TRUE(nowhere.Lift(tree_ / "a.so").ok());
  EXPECT_TRUE(nowhere.diagnostics().empty());
}

TEST_F(QuarantineRecordsTest, ADirectoryThatDoesNotCountIsSaid) {
  tree_.Write("state", "a file");
  EXPECT_FALSE(records_.Add(RecordOf("a.so")).ok());
  EXPECT_FALSE(records_.Find(tree_ / "a.so"));
  EXPECT_EQ(records_.diagnostics().size(), 2u);
  EXPECT_FALSE(records_.Find(tree_ / "a.so"));
  EXPECT_EQ(records_.diagnostics().size(), 2u) << "said twice";
}

TEST_F(QuarantineRecordsTest, HalfARecordAndWhatIsNoneAreNone) {
  const QuarantineRecord record = RecordOf("a.so");
  ASSERT_TRUE(records_.Add(record).ok());
  const fs::path file = OnlyFile();
  std::ifstream in(file);
  const std::string whole(std::istreambuf_iterator<char>(in), {});
  for (size_t bytes = 0; bytes < whole.size() - 2; ++bytes) {
    std::ofstream(file) << whole.substr(0, bytes);
    EXPECT_FALSE(records_.Find(record.path)) << bytes;
  }
  for (const std::string& hostile :
       {std::string(20'000, 'a'), std::string("\0\0\0", 3),
        std::string("path = 7\nbytes = \"x\""), std::string(5'000, '['),
        std::string("a") + std::string(2'000, '.') + "b = 1"}) {
    std::ofstream(file) << hostile;
    EXPECT_FALSE(records_.Find(record.path));
  }
  EXPECT_FALSE(records_.diagnostics().empty());
  ASSERT_TRUE(records_.Add(record).ok());
  EXPECT_EQ(records_.Find(record.path), record);
}

TEST_F(QuarantineRecordsTest, ARecordOfAnotherPathDoesNotCount) {
  ASSERT_TRUE(records_.Add(RecordOf("a.so")).ok());
  const fs::path of_a = OnlyFile();
  ASSERT_TRUE(records_.Add(RecordOf("b.so")).ok());
  for (const auto& entry : fs::directory_iterator(tree_ / "state")) {
    if (entry.path() == of_a) continue;
    fs::copy_file(of_a, entry.path(), fs::copy_options::overwrite_existing);
  }
  EXPECT_TRUE(records_.Find(tree_ / "a.so"));
  EXPECT_FALSE(records_.Find(tree_ / "b.so"));
}

TEST_F(QuarantineRecordsTest, APathThatIsNoTextIsNotKept) {
  EXPECT_FALSE(records_.Add(RecordOf("\xff.so")).ok());
  EXPECT_EQ(records_.diagnostics().size(), 1u);
}

TEST_F(QuarantineRecordsTest, OfTooManyThatHoldNoFurtherOneIsWritten) {
  const auto add = [&](const std::string& object) {
    tree_.Write(object, "12345");
    struct stat info;
    EXPECT_EQ(::stat((tree_ / object).c_str(), &info), 0);
    QuarantineRecord holds = RecordOf(object);
    holds.modified_ns =
        info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
    holds.libraries_ns = LibrariesChangedNs();
    return records_.Add(holds);
  };
  for (size_t i = 0; i < QuarantineRecords::kMaxRecords; ++i) {
    ASSERT_TRUE(add(std::to_string(i) + ".so").ok());
  }
  EXPECT_EQ(add("one more.so").code(), Code::kResourceExhausted);
  EXPECT_EQ(records_.All().size(), QuarantineRecords::kMaxRecords);
}

TEST_F(QuarantineRecordsTest, OfTooManyThoseGoWhoseObjectHasChanged) {
  tree_.Write("there.so", "12345");
  struct stat info;
  ASSERT_EQ(::stat((tree_ / "there.so").c_str(), &info), 0);
  QuarantineRecord holds = RecordOf("there.so");
  holds.modified_ns =
      info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
  holds.libraries_ns = LibrariesChangedNs();
  ASSERT_TRUE(records_.Add(holds).ok());
  for (size_t i = 1; i < QuarantineRecords::kMaxRecords; ++i) {
    ASSERT_TRUE(records_.Add(RecordOf(std::to_string(i))).ok());
  }
  ASSERT_TRUE(records_.Add(RecordOf("one more")).ok());
  EXPECT_TRUE(records_.Find(holds.path));
  EXPECT_TRUE(records_.Find(tree_ / "one more"));
  EXPECT_FALSE(records_.Find(tree_ / "1"));
}

}  // namespace
}  // namespace bulkhead::blame
