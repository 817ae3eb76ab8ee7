// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/table_pane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tools/cli/operators/top/key.h"
#include "tools/cli/operators/top/rows.h"

namespace bulkhead::cli::top {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr size_t kHeight = 23;

// A table with a row for each name.
Table TableOfNames(const std::vector<std::string>& names) {
  Table table;
  for (const std::string& name : names) {
    table.rows.push_back({.key = {RowKey::Kind::kBackend, 4711, 4712, name},
                          .state = "ready",
                          .what = name,
                          .detail = "all about " + name});
  }
  return table;
}

std::string Text(TablePane& pane, const std::string& message = "",
                 int columns = 80) {
  std::string text;
  const auto lines = pane.Draw(message, kHeight, columns);
  EXPECT_EQ(lines.size(), kHeight);
  for (const ScreenLine& line : lines) text += line.text + "\n";
  return text;
}

// Returns WHAT of the row that is drawn as selected.
std::string Selected(TablePane& pane) {
  for (const ScreenLine& line : pane.Draw("", kHeight, 80)) {
    if (!line.selected) continue;
    EXPECT_THAT(line.text, HasSubstr(" " + pane.selected()->what));
    return pane.selected()->what;
  }
  EXPECT_EQ(pane.selected(), nullptr);
  return "";
}

TEST(TablePaneTest, TheSelectionIsTheWorstUntilItIsMoved) {
  TablePane pane;
  pane.Show(TableOfNames({"acme", "cpu"}));
  EXPECT_EQ(Selected(pane), "acme");
  pane.Show(TableOfNames({"cpu", "acme"}));
  EXPECT_EQ(Selected(pane), "cpu");
  EXPECT_TRUE(pane.Press('j', kHeight));
  EXPECT_EQ(Selected(pane), "acme");
  EXPECT_THAT(Text(pane), HasSubstr("all about acme"));
  pane.Show(TableOfNames({"acme", "cpu"}));
  EXPECT_EQ(Selected(pane), "acme");
  EXPECT_FALSE(pane.Press(kKeyEnter, kHeight));
  EXPECT_TRUE(pane.Press(kKeyHome, kHeight));
  pane.Show(TableOfNames({"cpu", "acme"}));
  EXPECT_EQ(Selected(pane), "cpu");
}

TEST(TablePaneTest, ASelectedRowThatIsGoneLeavesItsPlace) {
  TablePane pane;
  pane.Show(TableOfNames({"a", "b", "c"}));
  pane.Press(kKeyEnd, kHeight);
  EXPECT_EQ(Selected(pane), "c");
  pane.Show(TableOfNames({"a", "b"}));
  EXPECT_EQ(Selected(pane), "b");
  pane.Show({});
  EXPECT_EQ(Selected(pane), "");
}

TEST(TablePaneTest, TwoHundredSessionsScroll) {
  TablePane pane;
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back("session " + std::to_string(i));
  pane.Show(TableOfNames(names));
  pane.Press(kKeyEnd, kHeight);
  EXPECT_EQ(Selected(pane), "session 199");
  pane.Press(kKeyPageUp, kHeight);
  EXPECT_EQ(Selected(pane), "session 182");
  pane.Press('k', kHeight);
  EXPECT_EQ(Selected(pane), "session 181");
  pane.Press(kKeyHome, kHeight);
  pane.Press(kKeyUp, kHeight);
  EXPECT_EQ(Selected(pane), "session 0");
}

TEST(TablePaneTest, ALongMessageTakesTheLinesOfTheDetails) {
  TablePane pane;
  pane.Show(TableOfNames({"acme"}));
  EXPECT_THAT(Text(pane), HasSubstr("all about acme"));
  const std::string text =
      Text(pane,
           "failed: restart acme in process 4711: no message came on a control "
           "socket in time, so that nobody knows whether it was done",
           40);
  EXPECT_THAT(text, HasSubstr("no\nmessage came on a control socket in"));
  EXPECT_EQ(text.substr(text.size() - 2), "~\n");
  EXPECT_THAT(text, Not(HasSubstr("all about acme")));
}

TEST(TablePaneTest, ANoticeHidesTheTroubles) {
  TablePane pane;
  EXPECT_THAT(Text(pane), HasSubstr("nothing is wrong"));
  pane.ShowNotice("this table is older");
  EXPECT_THAT(Text(pane), HasSubstr("this table is older"));
  EXPECT_THAT(Text(pane), Not(HasSubstr("nothing is wrong")));
  pane.ShowNotice("");
  EXPECT_THAT(Text(pane), HasSubstr("nothing is wrong"));
}

}  // namespace
}  // namespace bulkhead::cli::top
