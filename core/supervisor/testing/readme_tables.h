// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace bulkhead::supervisor {

// A table of states in README.md, as event -> state -> cell. A cell has the
// next state, if it is another one, and the action. Tests compare the table
// with the code.
using ReadmeTable = std::map<std::string, std::map<std::string, std::string>>;

// Returns the cells of one line of a Markdown table.
inline std::vector<std::string> ReadmeCells(const std::string& line) {
  std::vector<std::string> cells;
  for (size_t at = line.find('|'); at != std::string::npos;) {
    const size_t end = line.find('|', at + 1);
    if (end == std::string::npos) break;
    const std::string cell = line.substr(at + 1, end - at - 1);
    const size_t first = cell.find_first_not_of(' ');
    const size_t last = cell.find_last_not_of(' ');
    cells.push_back(
        first == std::string::npos ? "" : cell.substr(first, last - first + 1));
    at = end;
  }
  return cells;
}

// Returns the first table below `heading` in the file that the environment
// variable SUPERVISOR_README names.
inline ReadmeTable ReadReadmeTable(const std::string& heading) {
  std::ifstream file(std::getenv("SUPERVISOR_README"));
  std::string line;
  while (std::getline(file, line) && line != heading) {
  }
  while (std::getline(file, line) && !line.starts_with('|')) {
  }
  const std::vector<std::string> columns = ReadmeCells(line);
  std::getline(file, line);  // Skips the rule below the columns.
  ReadmeTable table;
  while (std::getline(file, line) && line.starts_with('|')) {
    const std::vector<std::string> cells = ReadmeCells(line);
    for (size_t i = 1; i < cells.size() && i < columns.size(); ++i) {
      table[cells[0]][columns[i]] = cells[i];
    }
  }
  return table;
}

// Expects the table below `heading` to have exactly the cells that the code's
// Next(state, event) returns. `states` and `events` are the numbers of
// enumerators of State and Event.
template <typename State, typename Event>
void ExpectInReadme(const std::string& heading, size_t states, size_t events) {
  ReadmeTable readme = ReadReadmeTable(heading);
  EXPECT_EQ(readme.size(), events) << heading;
  for (size_t e = 0; e < events; ++e) {
    const std::string row = backend::NameOf(static_cast<Event>(e));
    EXPECT_EQ(readme[row].size(), states) << row;
    for (size_t s = 0; s < states; ++s) {
      const std::string column = backend::NameOf(static_cast<State>(s));
      const auto step = Next(static_cast<State>(s), static_cast<Event>(e));
      std::string cell;
      if (step.next != static_cast<State>(s)) {
        cell = "**" + std::string(backend::NameOf(step.next)) + "**: ";
      }
      EXPECT_EQ(readme[row][column], cell + backend::NameOf(step.action))
          << row << " in " << column;
    }
  }
}

}  // namespace bulkhead::supervisor
