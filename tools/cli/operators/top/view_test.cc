// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/view.h"

#include <bulkhead/crashes.h>
#include <bulkhead/operators.h>
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
using ::testing::StartsWith;

Row BackendRow(const std::string& name) {
  return {.key = {RowKey::Kind::kBackend, 4711, 4712, name},
          .state = "ready",
          .what = name,
          .detail = "all about " + name};
}

Row SessionRow(uint64_t number) {
  return {.key = {RowKey::Kind::kSession, 4711, 4712, "acme", number},
          .state = "open",
          .what = "session " + std::to_string(number)};
}

Table TableWith(std::vector<Row> rows) { return {.rows = std::move(rows)}; }

std::string Text(View& view) {
  std::string text;
  for (const ScreenLine& line : view.Draw()) text += line.text + "\n";
  return text;
}

std::string Selected(View& view) {
  for (const ScreenLine& line : view.Draw()) {
    if (line.selected) return line.text;
  }
  return "";
}

std::vector<Crash> TwoCrashes() {
  Crash first;
  first.number = 1;
  first.backend.name = "acme";
  first.cause = "it was ended by signal 6";
  Crash second = first;
  second.number = 2;
  second.log = {"the last words \x1b[31m"};
  return {first, second};
}

TEST(ViewTest, FillsTheScreenAndNothingMore) {
  View view;
  std::vector<Row> rows;
  for (uint64_t i = 0; i < 200; ++i) rows.push_back(SessionRow(i));
  view.ShowTable(TableWith(rows));
  for (const auto& [lines, columns] :
       {std::pair{24, 80}, {10, 40}, {60, 200}, {9, 36}, {8, 80}, {1, 4}}) {
    view.Resize(lines, columns);
    const auto drawn = view.Draw();
    EXPECT_LE(drawn.size(), static_cast<size_t>(lines));
    for (const ScreenLine& line : drawn) {
      EXPECT_LE(line.text.size(), static_cast<size_t>(columns)) << line.text;
    }
  }
}

TEST(ViewTest, ATerminalThatIsTooSmallSaysSo) {
  View view;
  view.Resize(8, 80);
  EXPECT_EQ(Text(view), "too small: needs 36x9\n");
  view.Resize(9, 80);
  EXPECT_THAT(Text(view), HasSubstr("q quit"));
}

TEST(ViewTest, WithoutARowThereIsNothingToDo) {
  View view;
  EXPECT_EQ(view.Press('r').kind, Action::Kind::kNothing);
  EXPECT_EQ(view.Press('y').kind, Action::Kind::kNothing);
  EXPECT_EQ(view.Press('c').kind, Action::Kind::kNothing);
}

TEST(ViewTest, ACommandIsAskedForFirst) {
  View view;
  view.ShowTable(TableWith({BackendRow("acme"), BackendRow("cpu")}));
  EXPECT_EQ(view.Press('r').kind, Action::Kind::kNothing);
  EXPECT_THAT(Text(view), HasSubstr("restart acme in process 4711? y/n"));
  // The question is about the row of that moment.
  view.ShowTable(TableWith({BackendRow("cpu"), BackendRow("acme")}));
  const Action action = view.Press('y');
  EXPECT_EQ(action.kind, Action::Kind::kCommand);
  EXPECT_EQ(action.command, BackendCommand::kRestart);
  EXPECT_EQ(action.backend, "acme");
  EXPECT_EQ(action.pid, 4711);
}

TEST(ViewTest, EachKeyButYesIsNo) {
  for (const int key : {int{'n'}, int{'q'}, int{kKeyEnter}, int{'d'}, 0}) {
    View view;
    view.ShowTable(TableWith({BackendRow("acme")}));
    view.Press('d');
    EXPECT_EQ(view.Press(key).kind, Action::Kind::kNothing);
    EXPECT_THAT(Text(view), HasSubstr("did not disable acme"));
  }
}

TEST(ViewTest, EachCommandHasItsKey) {
  const std::pair<char, BackendCommand> keys[] = {
      {'r', BackendCommand::kRestart},
      {'l', BackendCommand::kReload},
      {'d', BackendCommand::kDisable},
      {'e', BackendCommand::kEnable}};
  for (const auto& [key, command] : keys) {
    View view;
    view.ShowTable(TableWith({SessionRow(1)}));
    view.Press(key);
    const Action action = view.Press('y');
    EXPECT_EQ(action.kind, Action::Kind::kCommand);
    EXPECT_EQ(action.command, command);
    EXPECT_EQ(action.backend, "acme");
  }
}

TEST(ViewTest, AnApplicationIsNoBackend) {
  View view;
  view.ShowTable(
      TableWith({{.key = {RowKey::Kind::kApplication, 4711, 4712}}}));
  view.Press('r');
  EXPECT_EQ(view.Press('y').kind, Action::Kind::kNothing);
  EXPECT_EQ(view.Press('c').kind, Action::Kind::kCrashes);
}

TEST(ViewTest, AMessageStaysWhileTheSelectionMoves) {
  View view;
  view.ShowTable(TableWith({BackendRow("acme"), BackendRow("cpu")}));
  view.ShowMessage("done: restart acme");
  view.Press('j');
  EXPECT_THAT(Text(view), HasSubstr("done: restart acme"));
  view.Press('x');
  EXPECT_THAT(Text(view), Not(HasSubstr("done: restart acme")));
}

TEST(ViewTest, HelpIsShownUntilQ) {
  View view;
  view.Press('?');
  EXPECT_THAT(Text(view), HasSubstr("The worst comes first"));
  view.Press(kKeyEnd);
  EXPECT_THAT(Text(view), HasSubstr("directory"));
  EXPECT_EQ(view.Press('q').kind, Action::Kind::kNothing);
  EXPECT_THAT(Text(view), HasSubstr("q quit"));
}

TEST(ViewTest, RecordsOfCrashesAreListedAndShownWhole) {
  View view;
  view.ShowTable(TableWith({BackendRow("acme")}));
  const Action action = view.Press('c');
  EXPECT_EQ(action.kind, Action::Kind::kCrashes);
  EXPECT_EQ(action.backend, "acme");
  view.ShowCrashes("2 records", TwoCrashes());
  EXPECT_THAT(Selected(view), StartsWith(">     2 "));
  view.Press(kKeyEnter);
  const std::string record = Text(view);
  EXPECT_THAT(record, HasSubstr("crash 2: "));
  EXPECT_THAT(record, HasSubstr("the last words ?[31m"));
  EXPECT_EQ(view.Press('q').kind, Action::Kind::kNothing);
  view.Press('j');
  view.Press(kKeyEnter);
  EXPECT_THAT(Text(view), HasSubstr("crash 1: "));
  view.Press(kKeyBack);
  view.Press('q');
  EXPECT_THAT(Text(view), HasSubstr("Bulkhead: "));
  EXPECT_EQ(view.Press('q').kind, Action::Kind::kQuit);
}

}  // namespace
}  // namespace bulkhead::cli::top
