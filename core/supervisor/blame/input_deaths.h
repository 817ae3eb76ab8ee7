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
#include "core/include/bulkhead/exit_report.h"

namespace bulkhead::blame {

// Counts the worker deaths for which each input of one backend is to blame, by
// position.
//
// After `attempts` deaths at one position, the input is poisoned there: further
// sessions are refused at that position for kLifetime, which costs no worker. A
// frame delivered at the position acquits the input. Owned by Blame, so the
// counts end with the backend (when its files change) or by Forget().
//
// An input is a key. The host (the application's library) derives the key from
// the identity of the file and the options that may matter for a crash.
//
// Bounded: keeps the kMaxPositions entries with the latest deaths. Times are
// monotonic. Not thread-safe.
class InputDeaths {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr size_t kMaxPositions = 1'024;
  static constexpr std::chrono::minutes kLifetime{10};

  explicit InputDeaths(uint32_t attempts) : attempts_(attempts) {}

  // Counts a death. Returns the number of deaths at that position, this one
  // included.
  uint32_t Died(const std::string& input, InputPosition position,
                ExitReport report, Time now);
  // Acquits the input at `position` and at its opening, since a frame was
  // delivered.
  void Delivered(const std::string& input, InputPosition position);
  // Returns the positions at which the input is refused, in ascending order.
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

}  // namespace bulkhead::blame
