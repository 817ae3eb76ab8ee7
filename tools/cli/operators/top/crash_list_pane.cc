// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/crash_list_pane.h"

#include <algorithm>
#include <utility>

#include "tools/cli/operators/crash_text.h"
#include "tools/cli/operators/fit.h"

namespace bulkhead::cli::top {

CrashListPane::CrashListPane(std::string title, std::vector<Crash> crashes)
    : title_(std::move(title)), crashes_(std::move(crashes)) {
  std::reverse(crashes_.begin(), crashes_.end());
}

bool CrashListPane::Press(int key, size_t height) {
  return scroll_.Press(key, crashes_.size(), height - 1);
}

const Crash* CrashListPane::selected() const {
  return crashes_.empty() ? nullptr : &crashes_[scroll_.selected()];
}

std::vector<ScreenLine> CrashListPane::Draw(size_t height, int columns) {
  std::vector<ScreenLine> lines = {ScreenLine::Title(title_, columns)};
  scroll_.Show(crashes_.size(), height - 1);
  for (size_t i = scroll_.first_shown();
       i < crashes_.size() && lines.size() < height; ++i) {
    const bool selected = i == scroll_.selected();
    lines.push_back({operators::Cut((selected ? "> " : "  ") +
                                        operators::LineOf(crashes_[i]),
                                    columns),
                     ScreenLine::Style::kPlain, selected});
  }
  lines.resize(height);
  return lines;
}

}  // namespace bulkhead::cli::top
