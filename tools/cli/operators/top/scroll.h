// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "tools/cli/operators/top/key.h"

namespace bulkhead::cli::top {

// The position in a list: the selected entry, and the first entry that a pane
// shows. Entries are numbered from 0. Not thread-safe.
class Scroll {
 public:
  size_t selected() const { return selected_; }
  size_t first_shown() const { return first_; }

  void Select(size_t entry) { selected_ = entry; }
  // Moves the selection by `by` entries in a list of `entries`. Stops at either
  // end.
  void Move(ptrdiff_t by, size_t entries) {
    const auto last = static_cast<ptrdiff_t>(entries) - 1;
    const auto wanted = static_cast<ptrdiff_t>(selected_) + by;
    selected_ = static_cast<size_t>(
        std::clamp(wanted, ptrdiff_t{0}, std::max(last, ptrdiff_t{0})));
  }
  // Moves the selection as `key` says, in a pane of `height` lines. Returns
  // false if `key` is no key that moves.
  bool Press(int key, size_t entries, size_t height) {
    const auto all = static_cast<ptrdiff_t>(entries);
    const auto page = static_cast<ptrdiff_t>(height);
    if (key == kKeyUp || key == 'k') {
      Move(-1, entries);
    } else if (key == kKeyDown || key == 'j') {
      Move(1, entries);
    } else if (key == kKeyPageUp) {
      Move(-page, entries);
    } else if (key == kKeyPageDown) {
      Move(page, entries);
    } else if (key == kKeyHome) {
      Move(-all, entries);
    } else if (key == kKeyEnd) {
      Move(all, entries);
    } else {
      return false;
    }
    return true;
  }
  // Adapts first_shown() to a list of `entries` in a pane of `height` lines.
  // Changes it as little as possible, so that the pane shows the selected entry
  // and has no empty lines that entries could fill.
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
