// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/cli/operators/top/rows.h"

namespace bulkhead::cli::top {

// The columns of the table of `bulkhead top` in a terminal of a given width. A
// narrow terminal has fewer columns. No line is wider than the terminal.
//
//     STATE           PID WHAT          FRAMES/S OF FASTEST LOST CAUSE
//   > backing off    4711 acme                 -               4 it was ended…
//     open           4711 acme:0 #1        212.4 [#######-]      clip.mp4
//
// The mark ">" and words carry all information, so that colour is not needed.
class Layout {
 public:
  // The narrowest terminal for which there is a layout.
  static constexpr int kMinColumns = 36;

  explicit Layout(int columns);
  // Returns the layout for output that is no terminal: it has all columns, and
  // the cause is not cut.
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

  // The widths of WHAT, OF FASTEST and CAUSE, in columns of the terminal; 0 if
  // the part is left out. `restarts_` says whether there is the part LOST.
  int what_ = 0;
  int bar_ = 0;
  bool restarts_ = false;
  int cause_ = 0;
};

}  // namespace bulkhead::cli::top
