// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/tiers/readme.h"

#include <sstream>

#include "tests/escape/tiers/readme_text.h"

namespace bulkhead::tests {
namespace {

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// Returns the cells of a line "| a | b |", or none for any other line.
std::vector<std::string> CellsOf(const std::string& line) {
  std::vector<std::string> cells;
  if (!line.starts_with('|')) return cells;
  std::istringstream rest(line.substr(1));
  for (std::string cell; std::getline(rest, cell, '|');) {
    cells.push_back(Trimmed(cell));
  }
  return cells;
}

}  // namespace

std::vector<ReadmeRow> ReadReadmeTable(std::string_view heading) {
  std::vector<ReadmeRow> rows;
  std::istringstream readme(kReadmeText);
  bool inside = false;
  for (std::string line; std::getline(readme, line);) {
    auto cells = CellsOf(line);
    if (!inside) {
      inside = !cells.empty() && cells[0] == heading;
    } else if (cells.empty()) {
      break;
    } else if (!cells[0].starts_with("---")) {
      std::string text = cells[0];
      cells.erase(cells.begin());
      rows.push_back({std::move(text), std::move(cells)});
    }
  }
  return rows;
}

}  // namespace bulkhead::tests
