// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::cli::operators {

// Functions that fit text into columns of a terminal. The text (names, inputs,
// causes) comes from applications and backends, so each function replaces
// control characters as Printable() does, and line feeds as well. The lines
// that it returns cannot steer a terminal.
//
// The locale (LC_CTYPE) determines how wide a character is, as for ncurses. A
// character that the locale cannot print, such as "é" in the locale "C",
// becomes "?". Thread-safe as long as nobody changes the locale.

// Returns as much of the text as fits into `columns`. Text that was cut ends
// with "~".
std::string Cut(std::string_view text_untrusted, int columns);
// Cuts the text as Cut() does, and adds spaces up to exactly `columns`.
std::string Fit(std::string_view text_untrusted, int columns);
// Breaks the text into lines of at most `columns`, at spaces where possible.
// Returns at least one line. `columns` must be at least 2.
std::vector<std::string> Wrap(std::string_view text_untrusted, int columns);

}  // namespace bulkhead::cli::operators
