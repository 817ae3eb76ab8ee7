// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/crashes.h>
#include <bulkhead/operators.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/operators/top/crash_list_pane.h"
#include "tools/cli/operators/top/key.h"
#include "tools/cli/operators/top/rows.h"
#include "tools/cli/operators/top/screen_line.h"
#include "tools/cli/operators/top/table_pane.h"
#include "tools/cli/operators/top/text_pane.h"

namespace bulkhead::cli::top {

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
// Shows one pane at a time: the table, the list of crash records of a row, one
// record, or the help. A pane handles the keys that move its selection or its
// text, and draws its lines; View handles the other keys. A command needs a
// confirmation ("y/n"). It acts on the row that was selected when the key of
// the command was pressed, even if that row has moved since. Not thread-safe.
class View {
 public:
  // The number of lines of the smallest screen that can show the table.
  static constexpr int kMinLines = 9;

  void Resize(int lines, int columns);
  // Change the table, also while another pane is shown; see TablePane.
  void ShowTable(Table table) { table_.Show(std::move(table)); }
  void ShowNotice(std::string notice) { table_.ShowNotice(std::move(notice)); }
  // Opens the list of crash records. `crashes` has the latest record last.
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

  // Lets the shown pane handle `key`. Returns false if the pane has no use for
  // it.
  bool Move(int key);
  Action PressInTable(int key);
  void PressInCrashes(int key);
  void AskFor(BackendCommand command);
  Action Answer(int key);
  Action AskForCrashes();
  // Returns how many lines the panes fill.
  size_t HeightOfPane() const;

  int lines_ = 24;
  int columns_ = 80;
  Pane pane_ = Pane::kTable;
  TablePane table_;
  CrashListPane crashes_;
  TextPane text_;                // The record or the help.
  std::optional<Action> asked_;  // The command that waits for y or n.
  std::string message_;
};

}  // namespace bulkhead::cli::top
