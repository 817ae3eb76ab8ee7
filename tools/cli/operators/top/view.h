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

// Keys without a character. View takes a key as an int: the code point of a
// character or one of these values, which are above all code points.
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

// One line of the screen. Its text has no control characters and is not wider
// than the screen.
struct ScreenLine {
  enum class Style { kPlain, kTitle, kBad, kWarning };

  std::string text;
  Style style = Style::kPlain;
  bool selected = false;
};

// The action that a key asks the owner of a View to carry out. kCommand gives
// `command` to the backend; kCrashes reads crash records for ShowCrashes().
struct Action {
  enum class Kind { kNothing, kQuit, kCommand, kCrashes };

  Kind kind = Kind::kNothing;
  int pid = 0;          // The application, for kCommand and kCrashes.
  std::string backend;  // For kCrashes, empty means all backends.
  BackendCommand command = BackendCommand::kRestart;  // For kCommand.
};

// Decides what the full screen of `bulkhead top` shows and how keys change it.
// A pure state machine without input and output: its owner reads the keys,
// draws the lines and asks the applications.
//
//     view.Resize(24, 80);
//     view.ShowTable(TableOf(running, causes));
//     Action action = view.Press('r');    // asks "restart acme …? y/n"
//     action = view.Press('y');           // kCommand: the caller does it
//     view.ShowMessage("restarted acme in process 4711");
//     for (const ScreenLine& line : view.Draw()) ...
//
// The panes are the table, the list of crash records of a row, one record, and
// the help. The selection is on the first row, the worst, until the user moves
// it. From then on it stays on the same row from one reading to the next; the
// key Home moves it back to the first row. A command needs a confirmation
// ("y/n"). It acts on the row that was selected when the key of the command was
// pressed, even if that row has moved since. Not thread-safe.
class View {
 public:
  // The number of lines of the smallest screen that can show the table.
  static constexpr int kMinLines = 9;

  void Resize(int lines, int columns);
  // Replaces the table by a new reading.
  void ShowTable(Table table);
  // Shows `notice` instead of the line that sums up the troubles. An empty text
  // shows that line again.
  void ShowNotice(std::string notice) { notice_ = std::move(notice); }
  // Opens the list of crash records. `crashes` has the latest record last, as
  // ReadCrashes() returns them; the screen shows the latest first.
  void ShowCrashes(std::string title, std::vector<Crash> crashes);
  // Shows a message until the next message, or the next key that does more than
  // move the selection.
  void ShowMessage(std::string message) { message_ = std::move(message); }

  // Handles a key and returns what its owner has to do.
  Action Press(int key);
  // Returns the lines of the screen from the top, at most as many as it has.
  std::vector<ScreenLine> Draw();

 private:
  enum class Pane { kTable, kCrashes, kRecord, kHelp };

  // Moves the selection, or scrolls the text of the pane. Returns false if
  // `key` does neither.
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
  // Returns the lines below the rows of the table, above the line of keys.
  std::vector<std::string> FootOfTable() const;
  void DrawCrashes(std::vector<ScreenLine>& lines);
  void DrawText(std::vector<ScreenLine>& lines);

  int lines_ = 24;
  int columns_ = 80;
  Pane pane_ = Pane::kTable;
  Table table_;
  std::string notice_;
  // The user has moved the selection in the table. It then stays on its row.
  bool moved_ = false;
  std::vector<Crash> crashes_;  // The latest is the first.
  std::string crashes_title_;
  Scroll table_scroll_;
  Scroll crashes_scroll_;
  Scroll text_scroll_;
  std::optional<Action> asked_;  // The command that waits for y or n.
  std::string message_;
};

}  // namespace bulkhead::cli::top
