// SPDX-License-Identifier: Apache-2.0
#include "core/base/record_hash.h"

#include <gtest/gtest.h>

#include <string>

namespace bulkhead {
namespace {

bool Check(const std::string& recorded, std::string_view contents) {
  RecordHash hash = RecordHash::Parse(recorded).value();
  hash.Add(contents.substr(0, 1));
  hash.Add(contents.substr(1));
  return hash.Matches();
}

constexpr char kSha256OfAbc[] =
    "sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0";
constexpr char kSha512OfAbc[] =
    "sha512=3a81oZNherrMQXNJriBBMRLm-k6JqX6iCp7u5ktV05ohkpkqJ0_BqDa6PCOj_uu9RU"
    "1EI2Q86A4qmslPpUyknw==";

TEST(RecordHash, MatchesWhatWasRecorded) {
  EXPECT_TRUE(Check(kSha256OfAbc, "abc"));
  EXPECT_TRUE(Check(kSha512OfAbc, "abc"));
}

TEST(RecordHash, DiffersForAnythingElse) {
  EXPECT_FALSE(Check(kSha256OfAbc, "abd"));
  EXPECT_FALSE(Check(kSha256OfAbc, "abcd"));
  EXPECT_FALSE(Check(kSha512OfAbc, "ab"));
}

TEST(RecordHash, WeakAlgorithmsDoNotCount) {
  for (const char* text :
       {"md5=kAFQmDzST7DWlj99KOF_cg", "sha1=x", "sha224=x"}) {
    EXPECT_EQ(RecordHash::Parse(text).error().code(), Code::kUnsupported);
  }
}

TEST(RecordHash, MalformedTextIsRefused) {
  for (const char* text :
       {"", "sha256", "sha256=", "sha256=abc",
        "sha256=ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0",
        "sha512=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"}) {
    EXPECT_EQ(RecordHash::Parse(text).error().code(), Code::kInvalidArgument)
        << text;
  }
}

}  // namespace
}  // namespace bulkhead
