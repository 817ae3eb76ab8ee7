// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bulkhead {

// A generator of pseudo-random numbers (SplitMix64). A seed gives the same
// numbers on every machine and in every version. Not for secrets. Not
// thread-safe.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // Returns 64 random bits.
  uint64_t Bits() {
    state_ += 0x9E3779B97F4A7C15;
    uint64_t bits = state_;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
    return bits ^ (bits >> 31);
  }
  // Returns a number less than `bound`, which must be positive and fit 32 bits.
  uint64_t Below(uint64_t bound) { return (Bits() >> 32) * bound >> 32; }
  // Returns a number in [0, 1).
  double Fraction() { return static_cast<double>(Bits() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace bulkhead
