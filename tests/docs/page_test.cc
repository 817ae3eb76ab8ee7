// SPDX-License-Identifier: Apache-2.0
#include "tests/docs/page.h"

#include <gtest/gtest.h>

namespace bulkhead::tests {
namespace {

TEST(Page, HasFencedAndIndentedBlocks) {
  const auto blocks = CodeBlocksOf(
      "# Title\n\n```console\n$ a\nb\n```\n\n    c\n    d\n\n- item\n\n"
      "    of the item\n\nText\n    goes on\n");
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].language, "console");
  EXPECT_TRUE(blocks[0].fenced);
  EXPECT_EQ(blocks[0].line, 4u);
  EXPECT_EQ(blocks[0].lines, (std::vector<std::string>{"$ a", "b"}));
  EXPECT_FALSE(blocks[1].fenced);
  EXPECT_EQ(blocks[1].line, 8u);
  EXPECT_EQ(blocks[1].lines, (std::vector<std::string>{"c", "d"}));
}

TEST(Page, CommandsHaveTheirContinuationsAndTheirOutput) {
  const auto commands = CommandsOf(
      {"console", true, 10, {"$ one \\", "    more", "$ two", "x", "y"}});
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].text, "one \\\n    more");
  EXPECT_TRUE(commands[0].output.empty());
  EXPECT_EQ(commands[1].line, 12u);
  EXPECT_EQ(commands[1].output, (std::vector<std::string>{"x", "y"}));
}

TEST(Page, OutputIsComparedWithoutItsNumbers) {
  EXPECT_EQ(PartThatDiffers({"took 0.18 s,  680/s"}, "took 2 s, 3.5/s\n"), "");
  EXPECT_EQ(PartThatDiffers({"0123456789abcdef"}, "fedcba9876543210\n"), "");
  EXPECT_NE(PartThatDiffers({"took 2 s"}, "took 2 ms\n"), "");
  EXPECT_NE(PartThatDiffers({"a"}, "a\nb\n"), "");
  EXPECT_NE(PartThatDiffers({"b"}, "a\nb\n"), "");
  EXPECT_NE(PartThatDiffers({"a"}, ""), "");
}

TEST(Page, AnEllipsisStandsForAnyText) {
  EXPECT_EQ(PartThatDiffers({"…", "b"}, "b\n"), "");
  EXPECT_EQ(PartThatDiffers({"…", "b"}, "a\na\nb\n"), "");
  EXPECT_EQ(PartThatDiffers({"a", "…"}, "a\nb\n"), "");
  EXPECT_EQ(PartThatDiffers({"a", "…", "c"}, "a\nb\nc\n"), "");
  EXPECT_EQ(PartThatDiffers({"in …/x", "end"}, "in /tmp/y/x\nend\n"), "");
  EXPECT_NE(PartThatDiffers({"…", "b"}, "b\na\n"), "");
  EXPECT_NE(PartThatDiffers({"b", "…", "a"}, "a\nb\n"), "");
  EXPECT_NE(PartThatDiffers({"ab", "…", "b"}, "ab\n"), "");
}

}  // namespace
}  // namespace bulkhead::tests
