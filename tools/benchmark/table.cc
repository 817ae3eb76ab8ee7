// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace bulkhead::benchmark {
namespace {

using Cells = std::vector<std::string>;

// Returns the number with about three significant digits, and with all digits
// before the decimal point.
std::string Number(double value) {
  const double size = std::abs(value);
  if (size == 0 || size >= 100) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  return fmt::format("{:.{}f}", value, size >= 1 ? 2 : 3);
}

std::string CellOf(const Series& series) {
  if (series.values.empty()) return "-";
  if (series.values.size() == 1) return Number(series.Median());
  return fmt::format("{} ({}-{})", Number(series.Median()),
                     Number(series.Lowest()), Number(series.Highest()));
}

std::string TextOf(const nlohmann::ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Returns the headings of the columns: the keys, then the series of the first
// row that was measured.
Cells HeadsOf(const Table& table) {
  Cells heads;
  for (const auto& [key, value] : table.rows.front().of.items()) {
    heads.push_back(key);
  }
  const auto measured =
      std::find_if(table.rows.begin(), table.rows.end(),
                   [](const Row& row) { return row.not_reached.empty(); });
  if (measured == table.rows.end()) return heads;
  for (const Series& series : measured->series) {
    heads.push_back(fmt::format("{}, {}", series.name, series.unit));
  }
  return heads;
}

// Returns a line of the table. The first `left` cells are aligned to the left,
// the others, which are numbers, to the right.
std::string LineOf(const Cells& cells, const std::vector<size_t>& widths,
                   size_t left) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const size_t width = i < widths.size() ? widths[i] : 0;
    line += i < left ? fmt::format("{:<{}}  ", cells[i], width)
                     : fmt::format("{:>{}}  ", cells[i], width);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

Series& SeriesOf(Row& row, std::string_view name) {
  const auto found =
      std::find_if(row.series.begin(), row.series.end(),
                   [&](const Series& series) { return series.name == name; });
  if (found == row.series.end()) abort();
  return *found;
}

Row& RowOf(Table& table, const nlohmann::ordered_json& of) {
  for (Row& row : table.rows) {
    if (row.of == of) return row;
  }
  return table.rows.emplace_back(Row{of, {}, {}});
}

std::string TextOf(const Table& table) {
  std::string text = fmt::format("\n{}\n", table.title);
  if (!table.rows.empty()) {
    const Cells heads = HeadsOf(table);
    const size_t keys = table.rows.front().of.size();
    std::vector<Cells> lines = {heads};
    for (const Row& row : table.rows) {
      Cells& cells = lines.emplace_back();
      for (const auto& [key, value] : row.of.items()) {
        cells.push_back(TextOf(value));
      }
      for (const Series& series : row.series) cells.push_back(CellOf(series));
      if (!row.not_reached.empty()) {
        cells.push_back("not reached: " + row.not_reached);
      }
    }
    // Line 0 has the headings, line i the row i - 1. A row that was not reached
    // has a reason in place of its figures. The reason may be long, and does
    // not widen the columns.
    const auto has_reason = [&](size_t line) {
      return line > 0 && !table.rows[line - 1].not_reached.empty();
    };
    std::vector<size_t> widths(heads.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      for (size_t j = 0; j < lines[i].size() && j < heads.size(); ++j) {
        if (!has_reason(i) || j < keys)
          widths[j] = std::max(widths[j], lines[i][j].size());
      }
    }
    for (size_t i = 0; i < lines.size(); ++i) {
      const size_t left_aligned = has_reason(i) ? lines[i].size() : keys;
      text += LineOf(lines[i], widths, left_aligned);
    }
  }
  for (const std::string& note : table.notes) {
    text += fmt::format("  {}\n", note);
  }
  return text;
}

nlohmann::ordered_json FactsOf(const Table& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Row& row : table.rows) {
    nlohmann::ordered_json facts = {{"of", row.of}};
    if (row.not_reached.empty()) {
      facts["series"] = nlohmann::ordered_json::array();
      for (const Series& series : row.series) {
        facts["series"].push_back(FactsOf(series));
      }
    } else {
      facts["not_reached"] = row.not_reached;
    }
    rows.push_back(std::move(facts));
  }
  return {{"title", table.title}, {"rows", rows}, {"notes", table.notes}};
}

}  // namespace bulkhead::benchmark
