// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace bulkhead::tests {

// A random number generator that gives the same numbers for the same seed with
// every standard library, unlike the distributions of <random>.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  size_t Below(size_t limit) { return engine_() % limit; }
  bool OneIn(size_t times) { return Below(times) == 0; }

  template <typename Container>
  const auto& Pick(const Container& container) {
    return container[Below(std::size(container))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace bulkhead::tests
