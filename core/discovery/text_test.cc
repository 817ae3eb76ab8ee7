// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/text.h"

#include <gtest/gtest.h>

#include <string>

namespace bulkhead::discovery {
namespace {

TEST(TextTest, ValidUtf8IsWhatUnicodeAllows) {
  for (const char* good : {"", "a", "m\xc3\xb3", "\xe2\x82\xac", "\xed\x9f\xbf",
                           "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsValidUtf8(good)) << Quoted(good);
  }
  for (const char* bad :
       {"\xff", "\x80", "\xc0\xaf", "\xc3", "\xe2\x82", "\xed\xa0\x80",
        "\xe0\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "a\xc3("}) {
    EXPECT_FALSE(IsValidUtf8(bad)) << Quoted(bad);
  }
}

TEST(TextTest, QuotedIsFitForATerminal) {
  EXPECT_EQ(Quoted("a\x1b[31m\n\"\\"), R"("a\x1b[31m\x0a\"\\")");
  EXPECT_EQ(Quoted("\xff\xc3\xb3\xc2\x9b"), "\"\\xff\xc3\xb3\\xc2\\x9b\"");
  EXPECT_EQ(Quoted(std::string("\0", 1)), R"("\x00")");
  EXPECT_LT(Quoted(std::string(100000, 'a')).size(), 210u);
  EXPECT_TRUE(IsValidUtf8(Quoted(std::string(199, 'a') + "\xe2\x82\xac")));
}

TEST(TextTest, TrimmedDropsSpaceAtBothEnds) {
  EXPECT_EQ(Trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(Trimmed(" \t"), "");
}

}  // namespace
}  // namespace bulkhead::discovery
