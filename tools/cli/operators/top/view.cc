// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tools/cli/operators/crash_text.h"
#include "tools/cli/operators/fit.h"
#include "tools/cli/operators/top/command_name.h"
#include "tools/cli/operators/top/help.h"
#include "tools/cli/operators/top/layout.h"

namespace bulkhead::cli::top {
namespace {

constexpr char kKeysOfTable[] =
    "q quit  ? help  r restart  l reload  d disable  e enable  c crashes";
constexpr std::pair<char, BackendCommand> kCommandKeys[] = {
    {'r', BackendCommand::kRestart},
    {'l', BackendCommand::kReload},
    {'d', BackendCommand::kDisable},
    {'e', BackendCommand::kEnable}};
constexpr char kKeysOfCrashes[] = "q back  Enter whole record  arrows move";
constexpr char kKeysOfText[] = "q back  arrows and page keys move";

}  // namespace

void View::Resize(int lines, int columns) {
  lines_ = lines;
  columns_ = columns;
}

void View::ShowCrashes(std::string title, std::vector<Crash> crashes) {
  crashes_ = CrashListPane(std::move(title), std::move(crashes));
  pane_ = Pane::kCrashes;
}

Action View::Press(int key) {
  if (asked_) return Answer(key);
  if (Move(key)) return {};
  message_.clear();
  if (pane_ == Pane::kTable) return PressInTable(key);
  if (key == 'q' || key == kKeyBack) {
    pane_ = pane_ == Pane::kRecord ? Pane::kCrashes : Pane::kTable;
  } else if (pane_ == Pane::kCrashes) {
    PressInCrashes(key);
  }
  return {};
}

bool View::Move(int key) {
  switch (pane_) {
    case Pane::kTable:
      return table_.Press(key, HeightOfPane());
    case Pane::kCrashes:
      return crashes_.Press(key, HeightOfPane());
    default:
      return text_.Press(key, HeightOfPane(), columns_);
  }
}

Action View::PressInTable(int key) {
  for (const auto& [letter, command] : kCommandKeys) {
    if (key == letter) AskFor(command);
  }
  if (key == 'q') return {.kind = Action::Kind::kQuit};
  if (key == 'c') return AskForCrashes();
  if (key == '?') {
    pane_ = Pane::kHelp;
    text_ = TextPane("Bulkhead: help", {std::begin(kHelp), std::end(kHelp)});
  }
  return {};
}

void View::PressInCrashes(int key) {
  const Crash* crash = crashes_.selected();
  if (key != kKeyEnter || !crash) return;
  pane_ = Pane::kRecord;
  text_ = TextPane("one record of a crash", operators::LinesOf(*crash));
}

void View::AskFor(BackendCommand command) {
  const Row* row = table_.selected();
  if (!row) return;
  const RowKey& key = row->key;
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
  const Row* row = table_.selected();
  if (!row) return {};
  const RowKey& key = row->key;
  if (key.kind == RowKey::Kind::kSilent) {
    message_ = "`bulkhead crashes` lists the records of all applications";
    return {};
  }
  return {.kind = Action::Kind::kCrashes, .pid = key.pid, .backend = key.name};
}

size_t View::HeightOfPane() const {
  // The line below the pane names the keys.
  return static_cast<size_t>(std::max(lines_, kMinLines)) - 1;
}

std::vector<ScreenLine> View::Draw() {
  if (lines_ < kMinLines || columns_ < Layout::kMinColumns) {
    return {{operators::Cut(
        fmt::format("too small: needs {}x{}", Layout::kMinColumns, kMinLines),
        columns_)}};
  }
  std::vector<ScreenLine> lines;
  const char* keys = kKeysOfText;
  if (pane_ == Pane::kTable) {
    lines = table_.Draw(message_, HeightOfPane(), columns_);
    keys = kKeysOfTable;
  } else if (pane_ == Pane::kCrashes) {
    lines = crashes_.Draw(HeightOfPane(), columns_);
    keys = kKeysOfCrashes;
  } else {
    lines = text_.Draw(HeightOfPane(), columns_);
  }
  lines.push_back(ScreenLine::Title(keys, columns_));
  return lines;
}

}  // namespace bulkhead::cli::top
