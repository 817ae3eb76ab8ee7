// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/table_pane.h"

#include <algorithm>

#include "tools/cli/operators/fit.h"
#include "tools/cli/operators/top/layout.h"

namespace bulkhead::cli::top {
namespace {

using operators::Cut;
using Style = ScreenLine::Style;

// Lines above the rows: title, troubles and heading. Lines below them: details
// and, below them, the message.
constexpr size_t kHeadLines = 3;
constexpr size_t kFootLines = 3;

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

void TablePane::Show(Table table) {
  if (!moved_) {
    scroll_.Select(0);
  } else if (const Row* before = selected()) {
    const auto same =
        std::find_if(table.rows.begin(), table.rows.end(),
                     [&](const Row& row) { return row.key == before->key; });
    if (same != table.rows.end()) {
      scroll_.Select(static_cast<size_t>(same - table.rows.begin()));
    }
  }
  table_ = std::move(table);
}

bool TablePane::Press(int key, size_t height) {
  if (!scroll_.Press(key, table_.rows.size(),
                     height - kHeadLines - kFootLines)) {
    return false;
  }
  moved_ = key != kKeyHome;
  return true;
}

const Row* TablePane::selected() const {
  return scroll_.selected() < table_.rows.size()
             ? &table_.rows[scroll_.selected()]
             : nullptr;
}

std::vector<ScreenLine> TablePane::Draw(const std::string& message,
                                        size_t height, int columns) {
  const Layout layout(columns);
  const std::vector<Row>& rows = table_.rows;
  std::vector<ScreenLine> lines = {
      ScreenLine::Title("Bulkhead: " + Describe(table_.totals), columns),
      {Cut(notice_.empty() ? DescribeTroubles(table_.totals) : notice_,
           columns)},
      {Cut(layout.Heading(), columns)}};
  scroll_.Show(rows.size(), height - kHeadLines - kFootLines);
  for (size_t i = scroll_.first_shown();
       i < rows.size() && lines.size() < height - kFootLines; ++i) {
    const bool selected = i == scroll_.selected();
    lines.push_back(
        {layout.LineOf(rows[i], selected), StyleOf(rows[i].trouble), selected});
  }
  // The message is at the bottom.
  const auto below = WrapTo(kFootLines, message, columns);
  lines.resize(height - kFootLines);
  if (const Row* row = selected()) {
    for (const auto& line : WrapTo(kFootLines - 1, row->detail, columns)) {
      lines.push_back({line});
    }
  }
  lines.resize(height - below.size());
  for (const std::string& line : below) lines.push_back({line});
  return lines;
}

}  // namespace bulkhead::cli::top
