// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"

#include <gtest/gtest.h>

#include <string>

namespace bulkhead {
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

TEST(TextTest, AsciiIsFoundAtAnyLength) {
  for (size_t size = 0; size < 40; ++size) {
    std::string text(size, 'a');
    EXPECT_TRUE(IsAscii(text));
    for (char& c : text) {
      c = '\x80';
      EXPECT_FALSE(IsAscii(text));
      c = 'a';
    }
  }
}

TEST(TextTest, QuotedIsFitForATerminal) {
  EXPECT_EQ(Quoted("a\x1b[31m\n\"\\"), R"("a\x1b[31m\x0a\"\\")");
  EXPECT_EQ(Quoted("\xff\xc3\xb3\xc2\x9b"), "\"\\xff\xc3\xb3\\xc2\\x9b\"");
  EXPECT_EQ(Quoted(std::string("\0", 1)), R"("\x00")");
  // Characters that reverse the direction of text or break lines elsewhere.
  EXPECT_EQ(Quoted("a\u202eb\u2028\u200b"),
            R"("a\xe2\x80\xaeb\xe2\x80\xa8\xe2\x80\x8b")");
  EXPECT_LT(Quoted(std::string(100000, 'a')).size(), 210u);
  EXPECT_TRUE(IsValidUtf8(Quoted(std::string(199, 'a') + "\xe2\x82\xac")));
}

TEST(TextTest, TrimmedDropsSpaceAtBothEnds) {
  EXPECT_EQ(Trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(Trimmed(" \t"), "");
  EXPECT_EQ(Trimmed("\x1c\u00a0\u2028 a\u3000b\u0085\x1f"), "a\u3000b");
  EXPECT_EQ(Trimmed("\u200ba\xa0"), "\u200ba\xa0");
  EXPECT_EQ(Trimmed("\u3000\u3000"), "");
}

TEST(TextTest, IdentifiersGoByCategory) {
  for (const char* good : {"a", "_", "__init__", "A9", "é", "名前", "e\u0301",
                           "a\u203fb", "\u2160", "a\u0660"}) {
    EXPECT_TRUE(IsIdentifier(good)) << Quoted(good);
  }
  for (const char* bad : {"", "9", "a b", "a-b", "a.b", "\u0301a", "\u0660",
                          "a\u00b2", "a\u20ac", "a\xff", "\xff"}) {
    EXPECT_FALSE(IsIdentifier(bad)) << Quoted(bad);
  }
}

TEST(TextTest, WordsAreLettersAndNumbers) {
  for (const char* good : {"a", "9_", "é\u00b2", "\u0660"}) {
    EXPECT_TRUE(IsWord(good)) << Quoted(good);
  }
  for (const char* bad : {"", "a b", "a-b", "a.b", "e\u0301", "\xff"}) {
    EXPECT_FALSE(IsWord(bad)) << Quoted(bad);
  }
}

}  // namespace
}  // namespace bulkhead
