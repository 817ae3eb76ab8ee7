// SPDX-License-Identifier: Apache-2.0
#include "core/base/clean_text.h"

#include <gtest/gtest.h>

namespace bulkhead {
namespace {

TEST(CleanTextTest, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(CleanText("", 10), "");
  EXPECT_EQ(CleanText("h264 (High 4:4:4)", 64), "h264 (High 4:4:4)");
  EXPECT_EQ(CleanText("Müller 映画 🎬", 64), "Müller 映画 🎬");
}

TEST(CleanTextTest, ReplacesWhatATerminalWouldObey) {
  EXPECT_EQ(CleanText("a\x1b[2Jb", 64), "a?[2Jb");
  EXPECT_EQ(CleanText("a\r\n\t\x7f", 64), "a????");
  EXPECT_EQ(CleanText(std::string_view("a\0b", 3), 64), "a?b");
  // CSI as a single C1 control character.
  EXPECT_EQ(CleanText("a\xc2\x9b"
                      "2Jb",
                      64),
            "a?2Jb");
  // An override and an isolate of the direction, and a line separator.
  EXPECT_EQ(CleanText("a\u202etxt.exe\u2066b\u2028c", 64), "a?txt.exe?b?c");
  EXPECT_EQ(CleanText("c\u200bpu\u2060", 64), "c?pu?");
  EXPECT_EQ(CleanText("\ufeffa\U000e0001b", 64), "?a?b");
  // The neighbours of these characters.
  EXPECT_EQ(CleanText("\u2027\u202f\u2065", 64), "\u2027\u202f\u2065");
  // The first character that is not a C1 control.
  EXPECT_EQ(CleanText("\xc2\xa0", 64), "\xc2\xa0");
}

TEST(CleanTextTest, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(CleanText("a\x80z", 64), "a?z");
  EXPECT_EQ(CleanText("\xc0\xaf", 64), "??");
  EXPECT_EQ(CleanText("\xf5\x80\x80\x80", 64), "????");
  EXPECT_EQ(CleanText("cut \xe6\x98", 64), "cut ??");
  EXPECT_EQ(CleanText("\xe6\x98x", 64), "??x");
}

// RFC 3629 excludes overlong forms, surrogates and characters beyond U+10FFFF.
TEST(CleanTextTest, ReplacesEncodingsThatUtf8Forbids) {
  EXPECT_EQ(CleanText("\xe0\x80\xaf", 64), "???");
  EXPECT_EQ(CleanText("\xed\xa0\x80", 64), "???");
  EXPECT_EQ(CleanText("\xf0\x80\x80\xaf", 64), "????");
  EXPECT_EQ(CleanText("\xf4\x90\x80\x80", 64), "????");
}

TEST(CleanTextTest, CutsBetweenCharacters) {
  EXPECT_EQ(CleanText("abcdef", 3), "abc");
  EXPECT_EQ(CleanText("ab映", 4), "ab");
  EXPECT_EQ(CleanText("ab映", 5), "ab映");
  EXPECT_EQ(CleanText("abc", 0), "");
  EXPECT_EQ(CleanText(std::string(1 << 20, '\x1b'), 4), "????");
}

}  // namespace
}  // namespace bulkhead
