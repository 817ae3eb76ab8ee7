// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/signals.h"

#define NCURSES_NOMACROS
#include <curses.h>
#include <gtest/gtest.h>

#include <cstdio>

namespace bulkhead::cli::top {
namespace {

TEST(Signals, AStopIsTakenAlsoIfNcursesDrawsFirst) {
  Signals signals;
  std::FILE* terminal = std::fopen("/dev/null", "r+");
  ASSERT_TRUE(terminal);
  SCREEN* screen = newterm("xterm", terminal, terminal);
  ASSERT_TRUE(screen);
  ASSERT_EQ(::raise(SIGTSTP), 0);
  mvaddstr(0, 0, "text");
  wrefresh(stdscr);
  EXPECT_EQ(signals.Take(), SIGTSTP);
  EXPECT_EQ(signals.Take(), std::nullopt);
  endwin();
  delscreen(screen);
  std::fclose(terminal);
}

TEST(Signals, TheActionOfAStopIsRestored) {
  struct sigaction before = {};
  struct sigaction after = {};
  ASSERT_EQ(sigaction(SIGTSTP, nullptr, &before), 0);
  { const Signals signals; }
  ASSERT_EQ(sigaction(SIGTSTP, nullptr, &after), 0);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

}  // namespace
}  // namespace bulkhead::cli::top
