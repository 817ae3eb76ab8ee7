// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/benchmark/series.h"

namespace bulkhead::benchmark {

// One row of a table: what was measured, and its series.
//
// A row that was not measured says why in `not_reached`. Its place in the table
// then shows how far the measurement got.
struct Row {
  // Names the subject of the row: {"codec": "H.264", "height": 480}. A text, a
  // number or a bool each.
  nlohmann::ordered_json of;
  std::vector<Series> series;
  std::string not_reached;
};

// A table of measurements. All rows that were measured have series of the same
// names, in the same order, and all rows have the same keys.
struct Table {
  std::string title;
  std::vector<Row> rows;
  // Sentences for people who read the figures, such as what bends a line.
  std::vector<std::string> notes;
};

// Returns the series of that name in the row. The row must have it.
Series& SeriesOf(Row& row, std::string_view name);

// Returns the row with these keys and values, which is added if there is none.
Row& RowOf(Table& table, const nlohmann::ordered_json& of);

// Returns the table with aligned columns: each cell is the median, with the
// lowest and the highest value in brackets if there are several.
std::string TextOf(const Table& table);

// Returns {"title", "rows": [{"of", "series"} or {"of", "not_reached"}],
// "notes"}.
nlohmann::ordered_json FactsOf(const Table& table);

}  // namespace bulkhead::benchmark
