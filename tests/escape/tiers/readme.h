// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::tests {

// A row of a table of core/supervisor/sandbox/README.md: its first cell, and
// the others.
struct ReadmeRow {
  std::string text;
  std::vector<std::string> cells;
};

// The rows of the table whose first heading is `heading`; none: there is no
// such table. The README is part of the program, so that any user may read it.
std::vector<ReadmeRow> ReadReadmeTable(std::string_view heading);

}  // namespace bulkhead::tests
