// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/fit.h"

#include <utf8proc.h>
#include <wchar.h>

#include "core/base/clean_text.h"

namespace bulkhead::cli::operators {
namespace {

// A printable character with the combining characters after it.
struct Piece {
  std::string text;  // UTF-8
  int columns;
};

// Splits the cleaned text into pieces. A character of width 0, such as a
// combining accent, is added to the piece before it.
std::vector<Piece> PiecesOf(std::string_view text_untrusted) {
  const std::string text = CleanText(text_untrusted, text_untrusted.size());
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  std::vector<Piece> pieces;
  for (size_t at = 0; at < text.size();) {
    utf8proc_int32_t code = 0;
    const auto length = static_cast<size_t>(utf8proc_iterate(
        bytes + at, static_cast<utf8proc_ssize_t>(text.size() - at), &code));
    const int columns = ::wcwidth(static_cast<wchar_t>(code));
    if (columns < 0) {
      pieces.push_back({"?", 1});
    } else if (columns == 0 && !pieces.empty()) {
      pieces.back().text += text.substr(at, length);
    } else {
      pieces.push_back({text.substr(at, length), columns});
    }
    at += length;
  }
  return pieces;
}

// Appends as much of the text as fits into `columns` to `line`, with "~" at the
// end if something was cut. Returns the number of columns used.
int CutTo(int columns, std::string_view text_untrusted, std::string& line) {
  int used = 0;
  // The columns and bytes of the longest beginning that leaves room for "~".
  int used_before_mark = 0;
  size_t bytes_before_mark = line.size();
  for (const Piece& piece : PiecesOf(text_untrusted)) {
    if (used + piece.columns > columns) {
      if (columns <= 0) return 0;
      line.resize(bytes_before_mark);
      line += '~';
      return used_before_mark + 1;
    }
    line += piece.text;
    used += piece.columns;
    if (used < columns) {
      bytes_before_mark = line.size();
      used_before_mark = used;
    }
  }
  return used;
}

}  // namespace

std::string Cut(std::string_view text_untrusted, int columns) {
  std::string line;
  CutTo(columns, text_untrusted, line);
  return line;
}

std::string Fit(std::string_view text_untrusted, int columns) {
  std::string line;
  const int used = CutTo(columns, text_untrusted, line);
  if (used < columns) line.append(static_cast<size_t>(columns - used), ' ');
  return line;
}

std::vector<std::string> Wrap(std::string_view text_untrusted, int columns) {
  std::vector<std::string> lines(1);
  int used = 0;
  // The bytes and the columns of the line up to and including its last space,
  // where it can be broken; 0 columns if it cannot.
  size_t bytes_to_break = 0;
  int columns_to_break = 0;
  for (const Piece& piece : PiecesOf(text_untrusted)) {
    // A space that does not fit becomes the break itself.
    if (used + piece.columns > columns && piece.text == " ") {
      lines.emplace_back();
      used = 0;
      columns_to_break = 0;
      continue;
    }
    if (used + piece.columns > columns) {
      std::string rest;
      // A break at a space in the first half of the line would waste too much.
      const bool at_space = columns_to_break * 2 > columns;
      if (at_space) {
        rest = lines.back().substr(bytes_to_break);
        lines.back().resize(bytes_to_break - 1);
      }
      used = at_space ? used - columns_to_break : 0;
      lines.push_back(std::move(rest));
      columns_to_break = 0;
    }
    lines.back() += piece.text;
    used += piece.columns;
    // The line is not broken within its indentation.
    if (piece.text == " " &&
        lines.back().find_first_not_of(' ') != std::string::npos) {
      bytes_to_break = lines.back().size();
      columns_to_break = used;
    }
  }
  return lines;
}

}  // namespace bulkhead::cli::operators
