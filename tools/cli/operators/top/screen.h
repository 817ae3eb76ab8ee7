// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <memory>
#include <optional>
#include <vector>

#include "tools/cli/operators/top/screen_line.h"

namespace bulkhead::cli::top {

// The terminal of stdin and stdout as a full screen, drawn with ncurses. Draws
// the lines of a View and reads keys, but makes no decisions.
//
// The terminal only has to be able to move the cursor. Colour is optional: the
// selected row has a mark, and colours are used if the terminal has them and
// NO_COLOR is not set. The destructor and Leave() restore the terminal.
//
// ncurses keeps one screen for the whole process, so at most one Screen may
// exist, used by one thread. The locale (LC_CTYPE) must be set before Open().
class Screen {
 public:
  // Returns kUnsupported if the terminal cannot be drawn on, and says why.
  static Result<std::unique_ptr<Screen>> Open();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  int lines() const;
  int columns() const;
  // Reads the size of the terminal again. Call it after SIGWINCH, and after the
  // process was stopped.
  void TakeSize();

  void Draw(const std::vector<ScreenLine>& lines);
  // Returns the next typed key as View::Press takes it, or nullopt if no key
  // waits. All keys without a meaning are returned as 0, which View ignores.
  std::optional<int> ReadKey();

  // Leave() restores the terminal for the shell before the process stops;
  // Return() takes the terminal again.
  void Leave();
  void Return();

 private:
  explicit Screen(bool colour) : colour_(colour) {}

  const bool colour_;
};

}  // namespace bulkhead::cli::top
