// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace bulkhead::benchmark {

// A quantity with its value in each round.
struct Series {
  std::string name;
  std::string unit;
  std::vector<double> values;

  double Median() const;
  double Lowest() const;
  double Highest() const;
};

// Returns a series with `numerator` / `denominator` of each round. Effects that
// change from round to round, such as the processor's clock rate, cancel out.
Series Ratio(std::string name, const Series& numerator,
             const Series& denominator);

// Returns a series with `whole` - `part` of each round.
Series Difference(std::string name, const Series& whole, const Series& part);

// Returns "name   median unit   (lowest to highest)".
std::string LineOf(const Series& series);
nlohmann::ordered_json FactsOf(const Series& series);

}  // namespace bulkhead::benchmark
