// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/cli/operators/top/screen_line.h"
#include "tools/cli/operators/top/scroll.h"

namespace bulkhead::cli::top {

// The pane of View with a text to read: the help, or one crash record. Breaks
// lines that are wider than the screen. Not thread-safe.
class TextPane {
 public:
  TextPane() = default;
  TextPane(std::string title, std::vector<std::string> lines_untrusted);

  // Scrolls the text in a pane of `height` lines. Returns false if `key` does
  // not scroll.
  bool Press(int key, size_t height, int columns);
  // Returns `height` lines.
  std::vector<ScreenLine> Draw(size_t height, int columns);

 private:
  std::vector<std::string> Wrapped(int columns) const;

  std::string title_;
  std::vector<std::string> lines_untrusted_;
  // The entries are the lines that can be the first one shown: all up to the
  // line with which the last page fills the pane. The selected entry is the
  // line that is shown first now.
  Scroll scroll_;
};

}  // namespace bulkhead::cli::top
