// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/terminal.h"

#include <gtest/gtest.h>

namespace bulkhead::cli {
namespace {

TEST(Printable, KeepsTextAndLines) {
  EXPECT_EQ(Printable("größer\nzwei"), "größer\nzwei");
}

TEST(Printable, RemovesWhatSteersATerminal) {
  EXPECT_EQ(Printable("a\x1b[2Jb"), "a?[2Jb");
  EXPECT_EQ(Printable("a\rb\x7f"), "a?b?");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "2J"),
            "?2J");
  EXPECT_EQ(Printable("a\x9b"
                      "31m\u202e\nb"),
            "a?31m?\nb");
}

}  // namespace
}  // namespace bulkhead::cli
