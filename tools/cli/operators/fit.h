// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::cli {

// Text of other processes, cut to columns of a terminal. Names, inputs and
// causes come from applications and backends, so each function cleans its text
// as Printable() does, line feeds included: what it returns is one line that
// cannot steer a terminal.
//
// The locale (LC_CTYPE) says how wide a character is, as it does for ncurses.
// A character that the locale cannot print, such as "é" in the locale "C",
// becomes "?". Thread-safe as long as nobody changes the locale.

// Returns as much of the text as fits into that many columns. Text that was cut
// ends with "~".
std::string Cut(std::string_view text_untrusted, int columns);
// The same, filled up with spaces to exactly that many columns.
std::string Fit(std::string_view text_untrusted, int columns);
// Returns the text in lines of at most that many columns, broken at spaces
// where there are some. There is at least one line. `columns` is at least 2.
std::vector<std::string> Wrap(std::string_view text_untrusted, int columns);

}  // namespace bulkhead::cli
