// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace bulkhead::benchmark {

double Series::Median() const {
  if (values.empty()) return 0;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle]
                                : (sorted[middle - 1] + sorted[middle]) / 2;
}

double Series::Lowest() const {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}

double Series::Highest() const {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

Series Ratio(std::string name, const Series& numerator,
             const Series& denominator) {
  Series ratio{std::move(name), "x", {}};
  for (size_t i = 0;
       i < std::min(numerator.values.size(), denominator.values.size()); ++i) {
    if (denominator.values[i] == 0) continue;
    ratio.values.push_back(numerator.values[i] / denominator.values[i]);
  }
  return ratio;
}

Series Difference(std::string name, const Series& whole, const Series& part) {
  Series difference{std::move(name), whole.unit, {}};
  for (size_t i = 0; i < std::min(whole.values.size(), part.values.size());
       ++i) {
    difference.values.push_back(whole.values[i] - part.values[i]);
  }
  return difference;
}

std::string LineOf(const Series& series) {
  return fmt::format("{:<44} {:>9.2f} {:<9} ({:.2f} to {:.2f})", series.name,
                     series.Median(), series.unit, series.Lowest(),
                     series.Highest());
}

nlohmann::ordered_json FactsOf(const Series& series) {
  return {{"name", series.name},         {"unit", series.unit},
          {"median", series.Median()},   {"lowest", series.Lowest()},
          {"highest", series.Highest()}, {"values", series.values}};
}

}  // namespace bulkhead::benchmark
