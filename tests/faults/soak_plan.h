// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bulkhead::tests {

// What happens to one session of the soak, and how it is used meanwhile. Drawn
// from the seed and the number of the fault alone, so that any of them can be
// done again.
struct SoakPlan {
  enum class Victim { kNobody, kWorker, kZygote, kReaper, kSupervisor };

  size_t file = 0;
  bool indexed = false;
  std::vector<size_t> indices;  // of FrameAt, if so
  // Of the chaos backend; empty: it comes from outside.
  std::string faults;
  Victim victim = Victim::kNobody;
  int signal = 0;
  size_t before_frame = 0;  // of those that are asked for

  std::string Describe() const;
};

// `lengths`: of each file, in frames.
SoakPlan DrawPlan(uint64_t seed, uint64_t number,
                  const std::vector<size_t>& lengths);

}  // namespace bulkhead::tests
