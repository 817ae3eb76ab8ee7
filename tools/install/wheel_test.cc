// SPDX-License-Identifier: Apache-2.0
#include "tools/install/wheel.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/testing/temporary_tree.h"
#include "ipc/unique_fd.h"
#include "tools/install/testing/testing_wheel.h"

namespace bulkhead::install {
namespace {

class Wheel : public testing::Test {
 protected:
  Result<Staged> Stage(const std::string& path) {
    std::filesystem::remove_all(staging_.path());
    std::filesystem::create_directory(staging_.path());
    const ipc::UniqueFd fd = staging_.Open();
    return StageWheel(path, fd.get());
  }
  Result<Staged> Stage(const TestingWheel& wheel) {
    return Stage(wheel.Write(wheels_.path()));
  }

  // Expects that the wheel is refused with this code and a message with
  // `reason`.
  void ExpectRefusal(const Result<Staged>& staged, const std::string& reason,
                     Code code = Code::kBadInput) {
    ASSERT_FALSE(staged) << "expected: " << reason;
    EXPECT_EQ(staged.error().code(), code) << staged.error();
    EXPECT_NE(staged.error().message().find(reason), std::string::npos)
        << staged.error();
    EXPECT_NE(staged.error().message().find("acme-1.0-py3"), std::string::npos)
        << staged.error();
  }
  void ExpectRefusal(const TestingWheel& wheel, const std::string& reason) {
    ExpectRefusal(Stage(wheel), reason);
  }

  TemporaryTree wheels_;
  TemporaryTree staging_;
  TestingWheel acme_{"acme"};
  const std::string info_ = acme_.dist_info() + "/";
};

TEST_F(Wheel, GoodOneIsUnpackedWithItsModes) {
  acme_.Add("acme/data/table.bin", std::string(300'000, 'x'), 0100600);
  acme_.Add("acme/odd", "", 0104777);
  const auto staged = Stage(acme_);
  ASSERT_TRUE(staged) << staged.error();
  EXPECT_EQ(staged->dist_info, "acme-1.0.dist-info");
  EXPECT_EQ(staged->files.size(), 6u);
  EXPECT_TRUE(staged->diagnostics.empty());
  EXPECT_EQ(ReadAll(staging_ / "acme/data/table.bin"),
            std::string(300'000, 'x'));
  const auto mode = [&](const char* path) {
    struct stat info = {};
    stat((staging_ / path).c_str(), &info);
    return info.st_mode & 07777;
  };
  EXPECT_EQ(mode("acme/libacme.so"), 0755u);
  EXPECT_EQ(mode("acme/data/table.bin"), 0644u);
  EXPECT_EQ(mode("acme/odd"), 0755u) << "no set-user-ID";
  EXPECT_FALSE(std::filesystem::exists(staging_ / (info_ + "RECORD")))
      << "the installer writes it";
}

TEST_F(Wheel, FoldersAreNoFiles) {
  acme_.Add("acme/", "", 040755).Add("acme/empty/", "", 040755);
  const auto staged = Stage(acme_);
  ASSERT_TRUE(staged) << staged.error();
  EXPECT_FALSE(std::filesystem::exists(staging_ / "acme/empty"));
}

TEST_F(Wheel, StrongerHashesAndSignaturesAreKnown) {
  Digest digest(HashAlgorithm::kSha512);
  digest.Append(std::string_view("text"));
  acme_.Add("acme/text", "text")
      .Unlisted("acme/text")
      .AddRecordLine("acme/text,sha512=" + digest.Finish() + ",4")
      .Add(info_ + "RECORD.jws", "{}")
      .Unlisted(info_ + "RECORD.jws");
  const auto staged = Stage(acme_);
  ASSERT_TRUE(staged) << staged.error();
  EXPECT_FALSE(std::filesystem::exists(staging_ / (info_ + "RECORD.jws")));
}

TEST_F(Wheel, LibrariesAreSpreadAndTheRestOfDataIsLeftOut) {
  acme_.Add("acme-1.0.data/platlib/acme/more.so", "more")
      .Add("acme-1.0.data/purelib/acme.py", "py")
      .Add("acme-1.0.data/scripts/acme-tool", "#!python", 0100755)
      .Add("acme-1.0.data/headers/acme.h", "h");
  const auto staged = Stage(acme_);
  ASSERT_TRUE(staged) << staged.error();
  EXPECT_EQ(ReadAll(staging_ / "acme/more.so"), "more");
  EXPECT_EQ(ReadAll(staging_ / "acme.py"), "py");
  EXPECT_FALSE(std::filesystem::exists(staging_ / "acme-1.0.data"));
  EXPECT_TRUE(std::any_of(
      staged->files.begin(), staged->files.end(),
      [](const RecordLine& line) { return line.path == "acme/more.so"; }));
  ASSERT_EQ(staged->diagnostics.size(), 2u);
  EXPECT_NE(staged->diagnostics[0].message.find("headers"), std::string::npos);
  EXPECT_NE(staged->diagnostics[1].message.find("scripts"), std::string::npos);
}

TEST_F(Wheel, SpreadFilesMayNotHideOthers) {
  ExpectRefusal(TestingWheel("acme").Add(
                    "acme-1.0.data/platlib/acme/libacme.so", "other"),
                "installed twice");
  ExpectRefusal(TestingWheel("acme").Add(
                    "acme-1.0.data/purelib/other-1.0.dist-info/METADATA", "x"),
                "dist-info folder");
  ExpectRefusal(
      TestingWheel("acme").Add("acme-1.0.data/purelib/.bulkhead-x", "x"),
      "keeps for itself");
}

TEST_F(Wheel, PathsThatLeadOutAreRefused) {
  const std::pair<const char*, const char*> paths[] = {
      {"../evil", "\"..\""},
      {"acme/../../evil", "\"..\""},
      {"/etc/evil", "absolute"},
      {"./acme/x", "\".\""},
      {"acme//x", "empty part"},
      {"acme/\nx", "control characters"},
      {".bulkhead-transaction/x", "for itself"},
  };
  for (const auto& [path, reason] : paths) {
    ExpectRefusal(TestingWheel("acme").Add(path, "x"), reason);
  }
}

TEST_F(Wheel, NameThatIsNotUtf8IsRefused) {
  acme_.Add("acme/a_b", "1");
  const std::string path = acme_.Write(wheels_.path());
  ASSERT_GE(ReplaceBytes(path, "acme/a_b",
                         "acme/a\xff"
                         "b"),
            2);
  ExpectRefusal(Stage(path), "invalid UTF-8");
}

TEST_F(Wheel, LinksAndSpecialFilesAreRefused) {
  ExpectRefusal(TestingWheel("acme").Add("acme/l", "/etc/passwd", 0120777),
                "a link");
  ExpectRefusal(TestingWheel("acme").Add("acme/p", "", 0010644),
                "neither a file nor a folder");
  ExpectRefusal(TestingWheel("acme").Add("acme/d", "", 0020644),
                "neither a file nor a folder");
  ExpectRefusal(TestingWheel("acme").Add("acme/d/", "x", 040755),
                "a folder with contents");
}

TEST_F(Wheel, DuplicateNamesAreRefused) {
  acme_.Add("acme/one", "1").Add("acme/two", "2");
  const std::string path = acme_.Write(wheels_.path());
  ASSERT_GE(ReplaceBytes(path, "acme/two", "acme/one"), 2);
  ExpectRefusal(Stage(path), "two entries of one name");
}

TEST_F(Wheel, FileInPlaceOfAFolderIsRefused) {
  EXPECT_FALSE(Stage(acme_.Add("acme/a", "1").Add("acme/a/b", "2")));
}

TEST_F(Wheel, NulInANameIsRefused) {
  acme_.Add("acme/a_b", "1");
  const std::string path = acme_.Write(wheels_.path());
  ASSERT_GE(ReplaceBytes(path, "acme/a_b", std::string_view("acme/a\0b", 8)),
            2);
  ExpectRefusal(Stage(path), "not listed in RECORD");
}

TEST_F(Wheel, ContentsThatRecordDoesNotDescribeAreRefused) {
  const std::string so = "acme/libacme.so";
  const auto relisted = [&](const std::string& line) {
    return TestingWheel("acme").Unlisted(so).AddRecordLine(line);
  };
  const std::string right = "acme 1.0 object";
  Digest digest(HashAlgorithm::kSha256);
  digest.Append(right);
  const std::string hash = "sha256=" + digest.Finish();
  const std::string size = std::to_string(right.size());

  ASSERT_TRUE(Stage(relisted(so + "," + hash + "," + size)));
  ExpectRefusal(relisted(so + ",sha256=AAAA," + size), "hash");
  ExpectRefusal(relisted(so + "," + hash + ",3"), "more bytes");
  ExpectRefusal(relisted(so + "," + hash + ",300"), "RECORD says 300");
  ExpectRefusal(relisted(so + ",md5=AAAA," + size), "sha256 or better");
  ExpectRefusal(relisted(so + ",," + size), "no hash or size");
  ExpectRefusal(relisted(so + "," + hash + ","), "no hash or size");
  ExpectRefusal(TestingWheel("acme").Unlisted(so), "not listed in RECORD");
  ExpectRefusal(TestingWheel("acme").AddRecordLine("acme/x," + hash + ",1"),
                "does not have it");
  ExpectRefusal(TestingWheel("acme").AddRecordLine("../x," + hash + ",1"),
                "does not have it");
  ExpectRefusal(TestingWheel("acme").SetRecord(""), "RECORD");
  ExpectRefusal(TestingWheel("acme").SetRecord("\"x,,\n"), "open quote");
}

TEST_F(Wheel, SizesAreNotBelieved) {
  acme_.Add("acme/zeros", std::string(200'000, '\0'));
  const std::string path = acme_.Write(wheels_.path());
  ClaimSize(path, "acme/zeros", 10);
  EXPECT_FALSE(Stage(path));
  ClaimSize(path, "acme/zeros", 300'000);
  EXPECT_FALSE(Stage(path));
  ClaimSize(path, "acme/zeros", 200'000);
  EXPECT_TRUE(Stage(path));
}

TEST_F(Wheel, GigabytesAreRefusedBeforeTheyAreWritten) {
  acme_.Add("acme/a", "a").Add("acme/b", "b");
  const std::string path = acme_.Write(wheels_.path());
  ClaimSize(path, "acme/a", 0xf0000000);
  ClaimSize(path, "acme/b", 0xf0000000);
  ExpectRefusal(Stage(path), "4 GiB");
}

TEST_F(Wheel, WheelVersionsAreChecked) {
  const auto version = [&](const std::string& text) {
    return Stage(TestingWheel("acme").Add(info_ + "WHEEL", text));
  };
  ExpectRefusal(version("Wheel-Version: 2.0\n"), "newer Bulkhead",
                Code::kUnsupported);
  ExpectRefusal(version("Wheel-Version: one\n"), "no Wheel-Version");
  ExpectRefusal(version("Generator: x\n"), "no Wheel-Version");
  ExpectRefusal(TestingWheel("acme").Remove(info_ + "WHEEL"), "WHEEL");
  const auto newer = version("Wheel-Version: 1.7\r\n");
  ASSERT_TRUE(newer) << newer.error();
  ASSERT_EQ(newer->diagnostics.size(), 1u);
  EXPECT_EQ(newer->diagnostics[0].severity, Diagnostic::Severity::kWarning);
}

TEST_F(Wheel, OneDistInfoOfThatNameIsDemanded) {
  ExpectRefusal(TestingWheel("acme").Add("b-1.0.dist-info/METADATA", ""),
                "one NAME-VERSION.dist-info");
  const std::string path = acme_.Write(wheels_.path());
  const auto renamed = [&](const std::string& name) {
    const std::string to = wheels_ / name;
    std::filesystem::copy_file(path, to);
    return Stage(to);
  };
  EXPECT_FALSE(renamed("other-1.0-py3-none-any.whl"));
  EXPECT_FALSE(renamed("acme-2.0-py3-none-any.whl"));
  EXPECT_TRUE(renamed("Acme-1.0.0-py3-none-any.whl")) << "the same, normalized";
}

TEST_F(Wheel, AnotherMachineIsRefused) {
  ExpectRefusal(Stage(acme_.SetPlatform("manylinux_2_17_mips")), "built for",
                Code::kUnsupported);
}

TEST_F(Wheel, WhatIsNoZipFileIsRefused) {
  const std::string path = wheels_ / acme_.file_name();
  ExpectRefusal(Stage(path), "No such file", Code::kNotFound);
  std::ofstream(path) << "nothing of the kind";
  ExpectRefusal(Stage(path), "no intact zip file");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  ExpectRefusal(Stage(path), "no regular file", Code::kInvalidArgument);
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  ExpectRefusal(Stage(path), "no regular file", Code::kInvalidArgument);
}

TEST_F(Wheel, NoTruncationIsAccepted) {
  const std::string path = acme_.Write(wheels_.path());
  const std::string whole = ReadAll(path);
  for (size_t size = 0; size < whole.size(); size += 7) {
    std::filesystem::resize_file(path, size);
    EXPECT_FALSE(Stage(path)) << size;
    std::ofstream(path, std::ios::binary) << whole;
  }
}

TEST_F(Wheel, NoFlippedByteChangesWhatIsInstalled) {
  const std::string path = acme_.Write(wheels_.path());
  const std::string whole = ReadAll(path);
  const auto good = Stage(path);
  ASSERT_TRUE(good) << good.error();
  const std::vector<std::string> expected = Snapshot(staging_.path());
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
    std::ofstream(path, std::ios::binary) << bytes;
    if (!Stage(path)) continue;
    // The changed byte is in a mode, a date or a reserved field, so that the
    // contents are the same.
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(staging_.path())) {
      if (!entry.is_regular_file()) continue;
      const std::string contents = ReadAll(entry.path());
      EXPECT_TRUE(std::any_of(expected.begin(), expected.end(),
                              [&](const std::string& line) {
                                return line.ends_with(" " + contents);
                              }))
          << entry.path() << ", byte " << at;
    }
  }
}

}  // namespace
}  // namespace bulkhead::install
