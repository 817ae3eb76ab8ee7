// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "tools/cli/operators/crash_text.h"
#include "tools/cli/operators/fit.h"
#include "tools/cli/operators/top/command_name.h"
#include "tools/cli/operators/top/layout.h"

namespace bulkhead::cli::top {
namespace {

using operators::Cut;
using Style = ScreenLine::Style;

// Lines below the rows of the table: details and, below them, the message.
constexpr size_t kFootLines = 3;
// The lines around the rows of the table: title, troubles and heading above;
// foot and keys below. Around a list or a text: title above, keys below.
constexpr size_t kLinesAroundTable = 4 + kFootLines;
constexpr size_t kLinesAroundList = 2;

constexpr char kKeysOfTable[] =
    "q quit  ? help  r restart  l reload  d disable  e enable  c crashes";
constexpr char kKeysOfCrashes[] = "q back  Enter whole record  arrows move";
constexpr char kKeysOfText[] = "q back  arrows and page keys move";

constexpr const char* kHelp[] = {
    "The worst comes first. STATE says what is wrong:",
    "  quarantined  the backend failed too often and is not started",
    "  backing off  the backend failed and is not started yet; starting: it is",
    "  lost         the backend's process has ended; the next request starts "
    "it",
    "  written off  a worker was killed, and the kernel does not let it end",
    "  silent       the application's bulkheadd does not answer",
    "  waiting      the application has waited for a frame for two seconds or "
    "more, or the session has no worker; idle: nothing is asked of it",
    "  disabled, ready with a cause",
    "               by an operator; a reload was rolled back",
    "  restarted    LOST counts the workers that were lost",
    "  slow         less than half of the median of the sessions of its device",
    "",
    "FRAMES/S is the rate of the last two seconds, of an application and a "
    "backend that of all their sessions. The bar compares a session with the "
    "fastest one.",
    "",
    "Keys:",
    "  arrows, j k, page up and down, Home, End",
    "               move; Home: stay with the worst",
    "  r            restart the backend and forget its failures",
    "  l            reload: new streams use the files installed now",
    "  d, e         disable the backend, enable it again",
    "  c            the records of crashes of the row, Enter shows one",
    "  q, ^C        quit; back from a pane",
    "  ?            this help",
    "",
    "A command is for the application of the row alone; no open stream ends. "
    "Records are those of the default state directory."};

ScreenLine Title(const std::string& text, int columns) {
  return {operators::Fit(text, columns), Style::kTitle, false};
}

// Breaks the text into at most `lines` lines. If some text does not fit, the
// last line ends with "~".
std::vector<std::string> WrapTo(size_t lines, const std::string& text_untrusted,
                                int columns) {
  std::vector<std::string> wrapped = operators::Wrap(text_untrusted, columns);
  if (wrapped.size() > lines) {
    std::string& last = wrapped[lines - 1];
    last = Cut(last + " " + wrapped[lines], columns);
    wrapped.resize(lines);
  }
  return wrapped;
}

Style StyleOf(Trouble trouble) {
  if (trouble <= Trouble::kSilent) return Style::kBad;
  return trouble == Trouble::kNone ? Style::kPlain : Style::kWarning;
}

}  // namespace

void View::Resize(int lines, int columns) {
  lines_ = lines;
  columns_ = columns;
}

void View::ShowTable(Table table) {
  if (!moved_) {
    table_scroll_.Select(0);
  } else if (table_scroll_.selected() < table_.rows.size()) {
    const RowKey& key = table_.rows[table_scroll_.selected()].key;
    const auto same =
        std::find_if(table.rows.begin(), table.rows.end(),
                     [&](const Row& row) { return row.key == key; });
    if (same != table.rows.end()) {
      table_scroll_.Select(static_cast<size_t>(same - table.rows.begin()));
    }
  }
  table_ = std::move(table);
}

void View::ShowCrashes(std::string title, std::vector<Crash> crashes) {
  std::reverse(crashes.begin(), crashes.end());
  crashes_ = std::move(crashes);
  crashes_title_ = std::move(title);
  crashes_scroll_ = {};
  pane_ = Pane::kCrashes;
}

Action View::Press(int key) {
  if (asked_) return Answer(key);
  if (MoveBy(key)) return {};
  message_.clear();
  if (pane_ == Pane::kTable) return PressInTable(key);
  if (key == 'q' || key == kKeyBack) {
    pane_ = pane_ == Pane::kRecord ? Pane::kCrashes : Pane::kTable;
  } else if (pane_ == Pane::kCrashes) {
    PressInCrashes(key);
  }
  return {};
}

bool View::MoveBy(int key) {
  const auto page = static_cast<ptrdiff_t>(HeightOfPane());
  const auto entries = static_cast<ptrdiff_t>(EntriesOfPane());
  ptrdiff_t by = 0;
  switch (key) {
    case kKeyUp:
    case 'k':
      by = -1;
      break;
    case kKeyDown:
    case 'j':
      by = 1;
      break;
    case kKeyPageUp:
      by = -page;
      break;
    case kKeyPageDown:
      by = page;
      break;
    case kKeyHome:
      by = -entries;
      break;
    case kKeyEnd:
      by = entries;
      break;
    default:
      return false;
  }
  if (pane_ == Pane::kTable) moved_ = key != kKeyHome;
  ScrollOfPane().Move(by, EntriesOfPane());
  return true;
}

Action View::PressInTable(int key) {
  switch (key) {
    case 'q':
      return {.kind = Action::Kind::kQuit};
    case '?':
      pane_ = Pane::kHelp;
      text_scroll_ = {};
      return {};
    case 'r':
      AskFor(BackendCommand::kRestart);
      return {};
    case 'l':
      AskFor(BackendCommand::kReload);
      return {};
    case 'd':
      AskFor(BackendCommand::kDisable);
      return {};
    case 'e':
      AskFor(BackendCommand::kEnable);
      return {};
    case 'c':
      return AskForCrashes();
    default:
      return {};
  }
}

void View::PressInCrashes(int key) {
  if (key != kKeyEnter || crashes_.empty()) return;
  pane_ = Pane::kRecord;
  text_scroll_ = {};
}

void View::AskFor(BackendCommand command) {
  const size_t selected = table_scroll_.selected();
  if (selected >= table_.rows.size()) return;
  const RowKey& key = table_.rows[selected].key;
  if (key.kind == RowKey::Kind::kApplication ||
      key.kind == RowKey::Kind::kSilent) {
    message_ = "select a backend, or a session or worker of it";
    return;
  }
  asked_ = Action{.kind = Action::Kind::kCommand,
                  .pid = key.pid,
                  .backend = key.name,
                  .command = command};
  message_ = fmt::format("{} {} in process {}? y/n", NameOf(command), key.name,
                         key.pid);
}

Action View::Answer(int key) {
  const Action asked = *std::exchange(asked_, std::nullopt);
  if (key == 'y' || key == 'Y') return asked;
  message_ = fmt::format("did not {} {}", NameOf(asked.command), asked.backend);
  return {};
}

Action View::AskForCrashes() {
  const size_t selected = table_scroll_.selected();
  if (selected >= table_.rows.size()) return {};
  const RowKey& key = table_.rows[selected].key;
  if (key.kind == RowKey::Kind::kSilent) {
    message_ = "`bulkhead crashes` lists the records of all applications";
    return {};
  }
  return {.kind = Action::Kind::kCrashes, .pid = key.pid, .backend = key.name};
}

size_t View::EntriesOfPane() const {
  switch (pane_) {
    case Pane::kTable:
      return table_.rows.size();
    case Pane::kCrashes:
      return crashes_.size();
    default:
      break;
  }
  // In a text, the "selected entry" is the first line shown. It can be any line
  // up to the one at which the last page fills the pane.
  const size_t text = TextOfPane().size();
  return text > HeightOfPane() ? text - HeightOfPane() + 1 : 1;
}

size_t View::HeightOfPane() const {
  const size_t around =
      pane_ == Pane::kTable ? kLinesAroundTable : kLinesAroundList;
  const auto lines = static_cast<size_t>(std::max(lines_, kMinLines));
  return lines - around;
}

Scroll& View::ScrollOfPane() {
  if (pane_ == Pane::kTable) return table_scroll_;
  return pane_ == Pane::kCrashes ? crashes_scroll_ : text_scroll_;
}

std::vector<std::string> View::TextOfPane() const {
  std::vector<std::string> text;
  if (pane_ == Pane::kHelp) {
    text.assign(std::begin(kHelp), std::end(kHelp));
  } else if (crashes_scroll_.selected() < crashes_.size()) {
    text = operators::LinesOf(crashes_[crashes_scroll_.selected()]);
  }
  std::vector<std::string> wrapped;
  for (const std::string& line_untrusted : text) {
    for (std::string& line : operators::Wrap(line_untrusted, columns_)) {
      wrapped.push_back(std::move(line));
    }
  }
  return wrapped;
}

std::vector<ScreenLine> View::Draw() {
  if (lines_ < kMinLines || columns_ < Layout::kMinColumns) {
    return {{Cut(
        fmt::format("too small: needs {}x{}", Layout::kMinColumns, kMinLines),
        columns_)}};
  }
  std::vector<ScreenLine> lines;
  const char* keys = kKeysOfText;
  if (pane_ == Pane::kTable) {
    DrawTable(lines);
    keys = kKeysOfTable;
  } else if (pane_ == Pane::kCrashes) {
    DrawCrashes(lines);
    keys = kKeysOfCrashes;
  } else {
    DrawText(lines);
  }
  lines.push_back(Title(keys, columns_));
  return lines;
}

void View::DrawTable(std::vector<ScreenLine>& lines) {
  const Layout layout(columns_);
  const std::vector<Row>& rows = table_.rows;
  lines.push_back(Title("Bulkhead: " + Describe(table_.totals), columns_));
  lines.push_back({Cut(
      notice_.empty() ? DescribeTroubles(table_.totals) : notice_, columns_)});
  lines.push_back({Cut(layout.Heading(), columns_)});
  const size_t height = HeightOfPane();
  table_scroll_.Show(rows.size(), height);
  for (size_t i = 0; i < height; ++i) {
    const size_t row = table_scroll_.first_shown() + i;
    if (row >= rows.size()) {
      lines.emplace_back();
      continue;
    }
    const bool selected = row == table_scroll_.selected();
    lines.push_back({layout.LineOf(rows[row], selected),
                     StyleOf(rows[row].trouble), selected});
  }
  for (const std::string& line : FootOfTable()) lines.push_back({line});
}

std::vector<std::string> View::FootOfTable() const {
  std::vector<std::string> message = WrapTo(kFootLines, message_, columns_);
  std::vector<std::string> foot;
  if (table_scroll_.selected() < table_.rows.size()) {
    foot = WrapTo(kFootLines - 1, table_.rows[table_scroll_.selected()].detail,
                  columns_);
  }
  // A long message takes lines away from the details.
  foot.resize(kFootLines - message.size());
  foot.insert(foot.end(), message.begin(), message.end());
  return foot;
}

void View::DrawCrashes(std::vector<ScreenLine>& lines) {
  lines.push_back(Title(crashes_title_, columns_));
  const size_t height = HeightOfPane();
  crashes_scroll_.Show(crashes_.size(), height);
  for (size_t i = 0; i < height; ++i) {
    const size_t entry = crashes_scroll_.first_shown() + i;
    if (entry >= crashes_.size()) {
      lines.emplace_back();
      continue;
    }
    const bool selected = entry == crashes_scroll_.selected();
    lines.push_back(
        {Cut((selected ? "> " : "  ") + operators::LineOf(crashes_[entry]),
             columns_),
         Style::kPlain, selected});
  }
}

void View::DrawText(std::vector<ScreenLine>& lines) {
  lines.push_back(
      Title(pane_ == Pane::kHelp ? "Bulkhead: help" : "one record of a crash",
            columns_));
  std::vector<std::string> text = TextOfPane();
  text_scroll_.Move(0, EntriesOfPane());
  const size_t first = text_scroll_.selected();
  for (size_t i = 0; i < HeightOfPane(); ++i) {
    if (first + i < text.size()) {
      lines.push_back({std::move(text[first + i])});
    } else {
      lines.emplace_back();
    }
  }
}

}  // namespace bulkhead::cli::top
