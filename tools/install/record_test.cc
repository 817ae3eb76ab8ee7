// SPDX-License-Identifier: Apache-2.0
#include "tools/install/record.h"

#include <gtest/gtest.h>

namespace bulkhead::install {
namespace {

std::string Refusal(std::string_view text) {
  const auto parsed = ParseRecord(text);
  if (parsed) return "";
  EXPECT_EQ(parsed.error().code(), Code::kBadInput);
  return parsed.error().message();
}

TEST(Record, FormatsWhatItParsed) {
  const std::string text =
      "acme/a.so,sha256=abc,3\n"
      "\"a,b\"\"c\",sha512=de-_,0\n"
      "acme-1.0.dist-info/RECORD,,\n";
  const auto lines = ParseRecord(text).value();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].size, 3u);
  EXPECT_EQ(lines[1].path, "a,b\"c");
  EXPECT_EQ(lines[1].algorithm, HashAlgorithm::kSha512);
  EXPECT_FALSE(lines[2].algorithm);
  EXPECT_EQ(FormatRecord(lines), text);
}

TEST(Record, CarriageReturnsAndPaddingAreBorne) {
  const auto lines = ParseRecord("a,sha256=abc=,1\r\n\r\n").value();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].digest, "abc");
}

TEST(Record, MalformedLinesAreNamed) {
  EXPECT_NE(Refusal("a,,\nb,md5=abc,1\n").find("line 2"), std::string::npos);
  EXPECT_NE(Refusal("b,md5=abc,1\n").find("sha256 or better"),
            std::string::npos);
  EXPECT_NE(Refusal("b,sha256,1\n").find("no hash"), std::string::npos);
  EXPECT_NE(Refusal("b,sha256=,1\n").find("no hash"), std::string::npos);
  EXPECT_NE(Refusal("b,sha256=a\"\"\"\"b,1\n").find("no hash"),
            std::string::npos)
      << "a quote would be written back without quotes";
  EXPECT_NE(Refusal("b,sha256=abc,-1\n").find("no size"), std::string::npos);
  EXPECT_NE(Refusal("b,sha256=abc,1 \n").find("no size"), std::string::npos);
  EXPECT_NE(Refusal("\"b,,\n").find("open quote"), std::string::npos);
  EXPECT_NE(Refusal("b\n").find("PATH,HASH,SIZE"), std::string::npos);
  EXPECT_NE(Refusal("b,,\nb,,\n").find("twice"), std::string::npos);
}

TEST(Record, OnlyPathsThatStayInsideAreValid) {
  for (const char* path :
       {"a", "a/b.so", "a b/\xc3\xa9", "..a/b..", ".hidden"}) {
    EXPECT_TRUE(ValidatePath(path).ok()) << path;
  }
  for (const char* path :
       {"", "/a", "..", "a/../b", "a//b", "./a", "a/", "a\nb", "\xff",
        ".bulkhead-transaction/x", ".bulkhead-"}) {
    EXPECT_FALSE(ValidatePath(path).ok()) << path;
  }
  EXPECT_FALSE(ValidatePath(std::string_view("a\0b", 3)).ok());
  EXPECT_FALSE(ValidatePath(std::string(256, 'x')).ok());
  EXPECT_TRUE(ValidatePath(std::string(255, 'x')).ok());
}

}  // namespace
}  // namespace bulkhead::install
