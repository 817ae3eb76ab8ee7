// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::tests {

// A row of a table in core/supervisor/sandbox/README.md: the first cell and the
// others.
struct ReadmeRow {
  std::string text;
  std::vector<std::string> cells;
};

// Returns the rows of the table with the first heading `heading`, or none if
// there is no such table. The README is compiled into the program, so that the
// test can read it as any user.
std::vector<ReadmeRow> ReadReadmeTable(std::string_view heading);

}  // namespace bulkhead::tests
