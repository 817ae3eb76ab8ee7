// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/benchmark/series.h"

namespace bulkhead::benchmark {

// One row of a table: a measured subject and its series.
//
// A row that could not be measured has the reason in `not_reached`, and no
// series. It stays in the table, to show how far the measurement got.
struct Row {
  // The subject of the row: {"codec": "H.264", "height": 480}. Each value is a
  // text, a number or a bool.
  nlohmann::ordered_json of;
  std::vector<Series> series;
  std::string not_reached;
};

// A table of measurements. All rows that were measured have series of the same
// names, in the same order, and all rows have the same keys.
struct Table {
  std::string title;
  std::vector<Row> rows;
  // Sentences for readers of the figures, such as why a curve has a bend.
  std::vector<std::string> notes;
};

// Returns the series called `name`, which the row must have.
Series& SeriesOf(Row& row, std::string_view name);

// Returns the row with the subject `of`. Adds the row if there is none.
Row& RowOf(Table& table, const nlohmann::ordered_json& of);

// Returns the table as text with aligned columns. Each cell is the median of a
// series, with the lowest and the highest value if there are several values.
std::string TextOf(const Table& table);

// Returns {"title", "rows": [{"of", "series"} or {"of", "not_reached"}],
// "notes"}.
nlohmann::ordered_json FactsOf(const Table& table);

}  // namespace bulkhead::benchmark
