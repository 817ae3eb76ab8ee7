// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/control/input_position.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::supervisor {

// The inputs that killed workers of one backend, and where: the fourth counter
// beside those of RestartPolicy. After `attempts` attributed deaths at one
// position of one input the next session is refused there, which costs no
// worker, for `lifetime`. A frame that is delivered at the position acquits the
// input. What is known ends with the backend's files, since Backend owns it, or
// by Forget.
//
// An input is a text that its host makes of the file's identity and of what
// decides how it is decoded: another option may be a way round the crash.
// Bounded: beyond kMaxPositions the oldest is forgotten. Times are monotonic.
// Not thread-safe.
class PoisonedInputs {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr size_t kMaxPositions = 1'024;
  static constexpr std::chrono::minutes kLifetime{10};

  explicit PoisonedInputs(uint32_t attempts) : attempts_(attempts) {}

  // How many have died there now, this one included.
  uint32_t Died(const std::string& input, InputPosition position,
                ExitReport report, Time now);
  // A frame at the position, so it was opened too.
  void Delivered(const std::string& input, InputPosition position);
  // The positions at which the input is refused, in their order.
  std::vector<PoisonedPosition> Refused(const std::string& input, Time now);
  void Forget() { records_.clear(); }

 private:
  struct Dated {
    PoisonedPosition record;
    Time last_death;
  };
  void DropOld(Time now);

  const uint32_t attempts_;
  std::map<std::pair<std::string, InputPosition>, Dated> records_;
};

}  // namespace bulkhead::supervisor
