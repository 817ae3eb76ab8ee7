// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::cli::top {

// Keys without a character. View and its panes take a key as an int: the code
// point of a character or one of these values, which are above all code points.
enum SpecialKey : int {
  kKeyUp = 0x110000,
  kKeyDown,
  kKeyPageUp,
  kKeyPageDown,
  kKeyHome,
  kKeyEnd,
  kKeyEnter,
  kKeyBack,  // Escape, backspace and the arrow to the left.
};

}  // namespace bulkhead::cli::top
