// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/cli/operators/top/rows.h"

namespace bulkhead::cli::top {

// The columns of the table for a line of a given width: the narrower the
// terminal, the fewer columns there are. No line is wider than the terminal.
//
//     STATE           PID WHAT          FRAMES/S OF FASTEST LOST CAUSE
//   > backing off    4711 acme                 -               4 it was ended…
//     open           4711 acme:0 #1        212.4 [#######-]      clip.mp4
//
// A mark and words say everything; no line needs colour.
class Layout {
 public:
  // The narrowest terminal for which there is a layout.
  static constexpr int kMinColumns = 36;

  explicit Layout(int columns);
  // For output that is no terminal: all columns, and the cause is not cut.
  static Layout Uncut();

  std::string Heading() const;
  std::string LineOf(const Row& row, bool selected) const;

 private:
  Layout(int what, int bar, bool restarts, int cause)
      : what_(what), bar_(bar), restarts_(restarts), cause_(cause) {}

  std::string Join(const std::string& mark, const std::string& state,
                   const std::string& pid, const std::string& what,
                   const std::string& rate, const std::string& bar,
                   const std::string& restarts, const std::string& cause) const;

  // Columns of each part; 0 if it is left out.
  int what_ = 0;
  int bar_ = 0;
  bool restarts_ = false;
  int cause_ = 0;
};

}  // namespace bulkhead::cli::top
