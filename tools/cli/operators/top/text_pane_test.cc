// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/text_pane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/cli/operators/top/key.h"

namespace bulkhead::cli::top {
namespace {

using ::testing::StartsWith;

TEST(TextPaneTest, ALongTextScrollsToItsEndAndNoFurther) {
  std::vector<std::string> text(30, "a line that is wider than the screen");
  text.push_back("the end");
  TextPane pane("a title", text);
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(pane.Press(kKeyDown, 9, 20));
  const auto end = pane.Draw(9, 20);
  ASSERT_EQ(end.size(), 9u);
  EXPECT_THAT(end[0].text, StartsWith("a title"));
  EXPECT_EQ(end[8].text, "the end");
  pane.Press(kKeyEnd, 9, 20);
  EXPECT_EQ(pane.Draw(9, 20)[8].text, "the end");
  pane.Press(kKeyUp, 9, 20);
  EXPECT_EQ(pane.Draw(9, 20)[8].text, end[7].text);
  // A wider screen has fewer lines.
  EXPECT_EQ(pane.Draw(9, 80)[8].text, "the end");
}

TEST(TextPaneTest, AShortTextStays) {
  TextPane pane("a title", {"a \x1b[31m line"});
  EXPECT_TRUE(pane.Press(kKeyDown, 9, 20));
  const auto lines = pane.Draw(9, 20);
  EXPECT_EQ(lines[1].text, "a ?[31m line");
  EXPECT_EQ(lines[8].text, "");
  EXPECT_FALSE(pane.Press(kKeyEnter, 9, 20));
}

}  // namespace
}  // namespace bulkhead::cli::top
