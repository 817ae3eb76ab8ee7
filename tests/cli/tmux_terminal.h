// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "ipc/unique_fd.h"
#include "tests/support/program.h"

namespace bulkhead::tests {

// A real terminal with a shell in it: a server of tmux of its own. A test
// types, resizes the terminal, and reads what is on the screen.
//
//     auto terminal = TmuxTerminal::Start(80, 24, {{"LC_ALL", "C.UTF-8"}});
//     terminal->Type("top\n");
//     terminal->Await(HasSubstr("load average"));
//     terminal->Press("q");
//
// Await() does not sleep: it waits until the program has written something. The
// destructor ends the server and what runs in it. Used by one thread.
class TmuxTerminal {
 public:
  static constexpr std::chrono::milliseconds kLimit{30'000};

  // Returns null, and fails the test, if there is no tmux. The variables are
  // set in the shell.
  static std::unique_ptr<TmuxTerminal> Start(
      int columns, int lines,
      const decltype(ProgramOptions::environment)& environment);
  TmuxTerminal(const TmuxTerminal&) = delete;
  TmuxTerminal& operator=(const TmuxTerminal&) = delete;
  ~TmuxTerminal();

  void Type(const std::string& text);
  // Presses one key by its name in tmux: "Enter", "End", "C-c".
  void Press(const std::string& key);
  void Resize(int columns, int lines);

  // Returns the lines of the screen without spaces at their ends, up to the
  // last one that is not empty.
  std::string Screen();
  // Returns true while a program uses the screen that a shell does not have.
  bool InAlternateScreen();
  // Waits until the screen matches and returns it. Fails the test if it does
  // not match within kLimit.
  std::string Await(const testing::Matcher<const std::string&>& matcher);

 private:
  explicit TmuxTerminal(std::string directory)
      : directory_(std::move(directory)) {}

  ProgramResult Tmux(std::vector<std::string> arguments,
                     const ProgramOptions& options = {});
  // Waits for at most `limit` until something was written to the screen.
  void AwaitOutput(std::chrono::milliseconds limit);

  std::string directory_;  // Of the server's socket; short, as sockets need.
  ipc::UniqueFd output_;   // What programs write to the terminal.
};

}  // namespace bulkhead::tests
