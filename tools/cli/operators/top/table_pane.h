// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/operators/top/rows.h"
#include "tools/cli/operators/top/screen_line.h"
#include "tools/cli/operators/top/scroll.h"

namespace bulkhead::cli::top {

// The pane of View with the rows of the latest reading, of which one is
// selected. The selection is on the first row, the worst, until the user moves
// it. From then on it stays on the same row from one reading to the next; the
// key Home moves it back to the first row. Below the rows are the details of
// the selected row. Not thread-safe.
class TablePane {
 public:
  // Replaces the table by a new reading.
  void Show(Table table);
  // Shows `notice` instead of the line that sums up the troubles. An empty text
  // shows that line again.
  void ShowNotice(std::string notice) { notice_ = std::move(notice); }

  // Moves the selection in a pane of `height` lines. Returns false if `key`
  // does not move it.
  bool Press(int key, size_t height);
  // Returns the selected row, or null if the table is empty. It is valid until
  // the next Show().
  const Row* selected() const;
  // Returns `height` lines. A long `message` takes lines away from the details.
  std::vector<ScreenLine> Draw(const std::string& message, size_t height,
                               int columns);

 private:
  Table table_;
  std::string notice_;
  Scroll scroll_;
  // The user has moved the selection. It then stays on its row.
  bool moved_ = false;
};

}  // namespace bulkhead::cli::top
