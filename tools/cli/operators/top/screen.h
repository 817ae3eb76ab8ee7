// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <memory>
#include <optional>
#include <vector>

#include "tools/cli/operators/top/view.h"

namespace bulkhead::cli::top {

// The terminal of stdin and stdout as a full screen, with ncurses. Draws the
// lines of a View and reads keys; decides nothing.
//
// Needs a terminal that can move the cursor, and nothing else: the selected row
// has a mark, and colour is used where there is colour and NO_COLOR is not set.
// The destructor and Leave() put the terminal back into the state it was in.
//
// ncurses has one screen for the process: there is one Screen at a time, and
// one thread uses it. The locale (LC_CTYPE) must be set before.
class Screen {
 public:
  // kUnsupported if the terminal cannot be drawn on; the message says why.
  static Result<std::unique_ptr<Screen>> Open();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  int lines() const;
  int columns() const;
  // Asks the kernel for the size of the terminal: after SIGWINCH, and after the
  // process was stopped.
  void TakeSize();

  void Draw(const std::vector<ScreenLine>& lines);
  // Returns the next key that was typed, as View::Press takes it, without
  // waiting; nullopt if there is none. View has no use for 0, which stands for
  // all keys that have no meaning.
  std::optional<int> ReadKey();

  // Gives the terminal back to the shell while the process is stopped, and
  // takes it again.
  void Leave();
  void Return();

 private:
  explicit Screen(bool colour) : colour_(colour) {}

  const bool colour_;
};

}  // namespace bulkhead::cli::top
