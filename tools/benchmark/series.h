// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace bulkhead::benchmark {

// One quantity, measured once a round.
struct Series {
  std::string name;
  std::string unit;
  std::vector<double> values;

  double Median() const;
  double Lowest() const;
  double Highest() const;
};

// Round by round: what changes from round to round, such as the clock of the
// processor, then falls out.
Series Ratio(std::string name, const Series& numerator,
             const Series& denominator);

Series Difference(std::string name, const Series& whole, const Series& part);

// "name   median unit   (lowest to highest)".
std::string LineOf(const Series& series);
nlohmann::ordered_json FactsOf(const Series& series);

}  // namespace bulkhead::benchmark
