// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/text_pane.h"

#include <utility>

#include "tools/cli/operators/fit.h"

namespace bulkhead::cli::top {
namespace {

// Returns how many lines of a text of `lines` can be the first one shown in
// `height` lines.
size_t Positions(size_t lines, size_t height) {
  return lines > height ? lines - height + 1 : 1;
}

}  // namespace

TextPane::TextPane(std::string title, std::vector<std::string> lines_untrusted)
    : title_(std::move(title)), lines_untrusted_(std::move(lines_untrusted)) {}

bool TextPane::Press(int key, size_t height, int columns) {
  const size_t shown = height - 1;
  return scroll_.Press(key, Positions(Wrapped(columns).size(), shown), shown);
}

std::vector<ScreenLine> TextPane::Draw(size_t height, int columns) {
  std::vector<ScreenLine> lines = {ScreenLine::Title(title_, columns)};
  std::vector<std::string> text = Wrapped(columns);
  scroll_.Move(0, Positions(text.size(), height - 1));
  for (size_t i = scroll_.selected(); i < text.size() && lines.size() < height;
       ++i) {
    lines.push_back({std::move(text[i])});
  }
  lines.resize(height);
  return lines;
}

std::vector<std::string> TextPane::Wrapped(int columns) const {
  std::vector<std::string> wrapped;
  for (const std::string& line_untrusted : lines_untrusted_) {
    for (std::string& line : operators::Wrap(line_untrusted, columns)) {
      wrapped.push_back(std::move(line));
    }
  }
  return wrapped;
}

}  // namespace bulkhead::cli::top
