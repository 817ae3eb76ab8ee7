// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bulkhead::tests {

// The fault that happens to one session of the soak, and the use of the session
// meanwhile. A plan is drawn from the seed and the number of the fault alone,
// so that any fault can be repeated.
struct SoakPlan {
  enum class Victim { kNobody, kWorker, kZygote, kReaper, kSupervisor };

  size_t file = 0;
  bool indexed = false;
  // The arguments of FrameAt(), if `indexed`; else the session calls Next().
  std::vector<size_t> indices;
  // The script of the chaos backend, or empty for a fault from outside.
  std::string faults;
  Victim victim = Victim::kNobody;
  int signal = 0;
  size_t before_frame = 0;  // counts the frames that the session asks for

  std::string Describe() const;
};

// Draws the plan of fault `number`. `lengths` holds the number of frames of
// each file.
SoakPlan DrawPlan(uint64_t seed, uint64_t number,
                  const std::vector<size_t>& lengths);

}  // namespace bulkhead::tests
