// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/crashes.h>
#include <bulkhead/operators.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/operators/top/rows.h"
#include "tools/cli/operators/top/scroll.h"

namespace bulkhead::cli::top {

// A key as View takes it: the code of a character, or one of these, which are
// beyond all characters.
enum SpecialKey : int {
  kKeyUp = 0x110000,
  kKeyDown,
  kKeyPageUp,
  kKeyPageDown,
  kKeyHome,
  kKeyEnd,
  kKeyEnter,
  kKeyBack,  // Escape, backspace and the arrow to the left.
};

// One line of the screen. Its text is clean and not wider than the screen.
struct ScreenLine {
  enum class Style { kPlain, kTitle, kBad, kWarning };

  std::string text;
  Style style = Style::kPlain;
  bool selected = false;
};

// What the owner of a View has to do after a key.
struct Action {
  enum class Kind { kNothing, kQuit, kCommand, kCrashes };

  Kind kind = Kind::kNothing;
  int pid = 0;          // Of kCommand and kCrashes: the application.
  std::string backend;  // The backend; of kCrashes empty for all of them.
  BackendCommand command = BackendCommand::kRestart;  // Of kCommand.
};

// Decides what the full screen of `bulkhead top` shows and how keys change it.
// A pure state machine: it reads no key, draws nothing and asks nobody.
//
//     view.Resize(24, 80);
//     view.ShowTable(TableOf(running, causes));
//     Action action = view.Press('r');    // asks "restart acme …? y/n"
//     action = view.Press('y');           // kCommand: the caller does it
//     view.ShowMessage("restarted acme in process 4711");
//     for (const ScreenLine& line : view.Draw()) ...
//
// The panes are the table, the list of the records of crashes of a row, one
// record, and the help. The selection stays with its row from one reading to
// the next; until the user moves it, it is the first row, the worst one. A
// command is asked for before it is done, and concerns the row that was
// selected when its key was pressed, wherever that row is by then. Not
// thread-safe.
class View {
 public:
  // The smallest screen that can show a row of the table.
  static constexpr int kMinLines = 9;

  void Resize(int lines, int columns);
  // Shows a new reading.
  void ShowTable(Table table);
  // Shows this instead of the line of troubles, unless it is empty.
  void ShowNotice(std::string notice) { notice_ = std::move(notice); }
  // Opens the list of records; the latest one comes last in `crashes`, as from
  // ReadCrashes(), and first on the screen.
  void ShowCrashes(std::string title, std::vector<Crash> crashes);
  // Shows a message until the next one or the next key that is no movement.
  void ShowMessage(std::string message) { message_ = std::move(message); }

  Action Press(int key);
  // Returns the lines of the screen from the top, at most as many as it has.
  std::vector<ScreenLine> Draw();

 private:
  enum class Pane { kTable, kCrashes, kRecord, kHelp };

  // Moves in the pane. Returns false if the key is not one that moves.
  bool MoveBy(int key);
  Action PressInTable(int key);
  void PressInCrashes(int key);
  void AskFor(BackendCommand command);
  Action Answer(int key);
  Action AskForCrashes();

  size_t EntriesOfPane() const;
  size_t HeightOfPane() const;
  Scroll& ScrollOfPane();
  // The lines of the text that kRecord and kHelp show.
  std::vector<std::string> TextOfPane() const;

  void DrawTable(std::vector<ScreenLine>& lines);
  // Returns the lines between the rows and the keys.
  std::vector<std::string> FootOfTable() const;
  void DrawCrashes(std::vector<ScreenLine>& lines);
  void DrawText(std::vector<ScreenLine>& lines);

  int lines_ = 24;
  int columns_ = 80;
  Pane pane_ = Pane::kTable;
  Table table_;
  std::string notice_;
  bool moved_ = false;          // Whether the selection stays with its row.
  std::vector<Crash> crashes_;  // The latest is the first.
  std::string crashes_title_;
  Scroll table_scroll_;
  Scroll crashes_scroll_;
  Scroll text_scroll_;
  std::optional<Action> asked_;  // The command that waits for y or n.
  std::string message_;
};

}  // namespace bulkhead::cli::top
