// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

namespace bulkhead::cli::top {

// The selected entry of a list, and the part of the list that a pane shows. An
// entry is named by its position from 0. Not thread-safe.
class Scroll {
 public:
  size_t selected() const { return selected_; }
  size_t first_shown() const { return first_; }

  void Select(size_t entry) { selected_ = entry; }
  // Moves the selection by that many entries, not beyond either end.
  void Move(ptrdiff_t by, size_t entries) {
    const auto last = static_cast<ptrdiff_t>(entries) - 1;
    const auto wanted = static_cast<ptrdiff_t>(selected_) + by;
    selected_ = static_cast<size_t>(
        std::clamp(wanted, ptrdiff_t{0}, std::max(last, ptrdiff_t{0})));
  }
  // Moves the shown part as little as is needed for a list of `entries` in a
  // pane of `height` lines: the selected entry is in it, and no line is empty
  // that could show an entry.
  void Show(size_t entries, size_t height) {
    Move(0, entries);
    const size_t last_first = entries > height ? entries - height : 0;
    if (selected_ < first_) first_ = selected_;
    if (selected_ >= first_ + height) first_ = selected_ - height + 1;
    first_ = std::min(first_, last_first);
  }

 private:
  size_t selected_ = 0;
  size_t first_ = 0;
};

}  // namespace bulkhead::cli::top
