// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/screen.h"

// curses.h defines names such as `move` as macros; with this, as functions.
#define NCURSES_NOMACROS
#include <curses.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "tools/cli/operators/top/key.h"

// Macros of term.h that collide with names of this file.
#undef columns
#undef lines

namespace bulkhead::cli::top {
namespace {

using Style = ScreenLine::Style;

// The numbers of ncurses' colour pairs.
constexpr short kBadPair = 1;
constexpr short kWarningPair = 2;

// The milliseconds after Escape in which the rest of a key's sequence has to
// arrive: enough for a slow network, and hardly noticeable for a user who
// presses Escape alone.
constexpr int kEscapeDelay = 100;

std::string TerminalName() {
  const char* name = getenv("TERM");
  return name && *name ? name : "(TERM is not set)";
}

// Returns kUnsupported, with the reason, if the terminal cannot be drawn on.
Status CheckTerminal() {
  int error = 0;
  if (setupterm(nullptr, STDOUT_FILENO, &error) != 0 /* OK */) {
    return Status(Code::kUnsupported,
                  "the terminal " + TerminalName() + " is not known here");
  }
  const bool can_move = tigetstr("cup") != nullptr;
  del_curterm(cur_term);
  return can_move
             ? Status()
             : Status(Code::kUnsupported, "the terminal " + TerminalName() +
                                              " cannot move its cursor");
}

bool WantsColour() {
  const char* refused = getenv("NO_COLOR");
  return (!refused || !*refused) && has_colors();
}

// Pairs of a code of ncurses and the key of View that it stands for.
constexpr std::pair<int, int> kKeys[] = {
    {KEY_UP, kKeyUp},          {KEY_DOWN, kKeyDown}, {KEY_PPAGE, kKeyPageUp},
    {KEY_NPAGE, kKeyPageDown}, {KEY_HOME, kKeyHome}, {KEY_END, kKeyEnd},
    {KEY_ENTER, kKeyEnter},    {'\r', kKeyEnter},    {'\n', kKeyEnter},
    {KEY_BACKSPACE, kKeyBack}, {KEY_LEFT, kKeyBack}, {'\x1b', kKeyBack},
    {'\b', kKeyBack},          {'\x7f', kKeyBack}};

// Returns the key of View for a code of ncurses; 0 if View has none.
int KeyOf(int code) {
  for (const auto& [known, key] : kKeys) {
    if (code == known) return key;
  }
  return code < 0x80 ? code : 0;
}

short PairOf(Style style) {
  if (style == Style::kBad) return kBadPair;
  return style == Style::kWarning ? kWarningPair : short{0};
}

}  // namespace

Result<std::unique_ptr<Screen>> Screen::Open() {
  if (const Status can = CheckTerminal(); !can.ok()) return can;
  if (!newterm(nullptr, stdout, stdin)) {
    return Status(Code::kUnsupported,
                  "the terminal " + TerminalName() + " cannot be drawn on");
  }
  const bool colour = WantsColour();
  if (colour) {
    start_color();
    use_default_colors();
    init_pair(kBadPair, COLOR_RED, -1);
    init_pair(kWarningPair, COLOR_YELLOW, -1);
  }
  cbreak();
  noecho();
  nonl();
  set_escdelay(kEscapeDelay);
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  curs_set(0);
  return std::unique_ptr<Screen>(new Screen(colour));
}

Screen::~Screen() { Leave(); }

int Screen::lines() const { return LINES; }

int Screen::columns() const { return COLS; }

void Screen::TakeSize() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
      size.ws_col > 0) {
    resizeterm(size.ws_row, size.ws_col);
  }
}

void Screen::Draw(const std::vector<ScreenLine>& lines) {
  werase(stdscr);
  for (size_t i = 0; i < lines.size(); ++i) {
    const ScreenLine& line = lines[i];
    const auto y = static_cast<int>(i);
    mvaddstr(y, 0, line.text.c_str());
    const bool reverse = line.selected || line.style == Style::kTitle;
    mvchgat(y, 0, -1, reverse ? A_REVERSE : A_NORMAL,
            colour_ ? PairOf(line.style) : short{0}, nullptr);
  }
  wrefresh(stdscr);
}

std::optional<int> Screen::ReadKey() {
  const int code = wgetch(stdscr);
  if (code == ERR) return std::nullopt;
  return KeyOf(code);
}

void Screen::Leave() {
  if (isendwin()) return;
  // A terminal without a second screen would show the output of the shell amid
  // the old lines, so the screen is cleared first.
  werase(stdscr);
  wrefresh(stdscr);
  endwin();
}

void Screen::Return() {
  reset_prog_mode();
  TakeSize();
  clearok(stdscr, TRUE);
}

}  // namespace bulkhead::cli::top
