// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <locale.h>

namespace bulkhead::cli::operators {
namespace {

using ::testing::ElementsAre;

// The locale of most terminals, which each Debian has.
class FitTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(setlocale(LC_CTYPE, "C.UTF-8")); }
  void TearDown() override { setlocale(LC_CTYPE, "C"); }
};

TEST_F(FitTest, TextThatFitsStays) {
  EXPECT_EQ(Cut("acme", 4), "acme");
  EXPECT_EQ(Fit("acme", 6), "acme  ");
  EXPECT_EQ(Fit("", 2), "  ");
}

TEST_F(FitTest, TextThatIsCutEndsWithAMark) {
  EXPECT_EQ(Cut("quarantined", 5), "quar~");
  EXPECT_EQ(Cut("acme", 1), "~");
  EXPECT_EQ(Cut("acme", 0), "");
}

TEST_F(FitTest, WideCharactersTakeTwoColumns) {
  EXPECT_EQ(Cut("映画.mp4", 8), "映画.mp4");
  EXPECT_EQ(Fit("映画.mp4", 5), "映画~");
  // The second character would need the columns 3 and 4, and the mark one more.
  EXPECT_EQ(Fit("映画.mp4", 4), "映~ ");
}

TEST_F(FitTest, AccentsStayWithTheirLetter) {
  EXPECT_EQ(Fit("cafe\u0301 noir", 5), "cafe\u0301~");
  EXPECT_EQ(Cut("café", 4), "café");
}

TEST_F(FitTest, NothingSteersTheTerminal) {
  EXPECT_EQ(Cut("a\x1b[2Jb\nc\xff", 20), "a?[2Jb?c?");
  EXPECT_EQ(Cut("clip\u202e4pm.exe", 20), "clip?4pm.exe");
}

TEST_F(FitTest, LinesBreakAtSpaces) {
  EXPECT_THAT(Wrap("its worker was ended by signal 6", 12),
              ElementsAre("its worker", "was ended by", "signal 6"));
  EXPECT_THAT(Wrap("", 12), ElementsAre(""));
  EXPECT_THAT(Wrap("/a/path/without/spaces", 10),
              ElementsAre("/a/path/wi", "thout/spac", "es"));
  EXPECT_THAT(Wrap("  file  /usr/lib/acme.so", 16),
              ElementsAre("  file  /usr/lib", "/acme.so"));
}

TEST_F(FitTest, WhatTheLocaleCannotPrintIsAQuestionMark) {
  ASSERT_TRUE(setlocale(LC_CTYPE, "C"));
  EXPECT_EQ(Fit("café", 6), "caf?  ");
  EXPECT_EQ(Cut("映画.mp4", 8), "??.mp4");
}

}  // namespace
}  // namespace bulkhead::cli::operators
