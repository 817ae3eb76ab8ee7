// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/operators.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>

namespace bulkhead::cli::top {

// Computes the frames per second of sessions from readings without a window,
// each of which only has counts. A rate is over the last two seconds or, of
// a slower series of readings, of the time between two of them.
//
//     Rates rates;
//     for (;;) rates.Fill(*FindRunningHosts(milliseconds(0)), Clock::now());
//
// A session that was not in the reading before has no rate. A count that falls,
// as no bulkheadd counts, begins anew. Not thread-safe.
class Rates {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Sets RunningSession::frames_per_second in a reading that was taken at
  // `now`, and remembers its counts.
  void Fill(RunningHosts& running, Time now);

 private:
  struct Count {
    Time taken;
    uint64_t frames;
  };
  // The pids of the application and of its bulkheadd, and the session.
  using Id = std::tuple<int, int, uint64_t>;

  std::map<Id, std::deque<Count>> counts_;  // The oldest count is the first.
};

}  // namespace bulkhead::cli::top
