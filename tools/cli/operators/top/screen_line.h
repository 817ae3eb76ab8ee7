// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/cli/operators/fit.h"

namespace bulkhead::cli::top {

// One line of the screen. Its text has no control characters and is not wider
// than the screen.
struct ScreenLine {
  enum class Style { kPlain, kTitle, kBad, kWarning };

  // Returns a title that fills the width of the screen.
  static ScreenLine Title(const std::string& text, int columns) {
    return {operators::Fit(text, columns), Style::kTitle};
  }

  std::string text;
  Style style = Style::kPlain;
  bool selected = false;
};

}  // namespace bulkhead::cli::top
