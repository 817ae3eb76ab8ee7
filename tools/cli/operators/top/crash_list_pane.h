// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/crashes.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tools/cli/operators/top/screen_line.h"
#include "tools/cli/operators/top/scroll.h"

namespace bulkhead::cli::top {

// The pane of View with the crash records of a row of the table, one line each.
// One record is selected, at first the latest. Not thread-safe.
class CrashListPane {
 public:
  CrashListPane() = default;
  // `crashes` has the latest record last, as ReadCrashes() returns them; the
  // pane shows the latest first.
  CrashListPane(std::string title, std::vector<Crash> crashes);

  // Moves the selection in a pane of `height` lines. Returns false if `key`
  // does not move it.
  bool Press(int key, size_t height);
  // Returns the selected record, or null if the list is empty.
  const Crash* selected() const;
  // Returns `height` lines.
  std::vector<ScreenLine> Draw(size_t height, int columns);

 private:
  std::string title_;
  std::vector<Crash> crashes_;  // The latest is the first.
  Scroll scroll_;
};

}  // namespace bulkhead::cli::top
