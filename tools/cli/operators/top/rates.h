// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/operators.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>

namespace bulkhead::cli::top {

// Computes the frames per second of each session. Its input is a series of
// readings, which only have counts of frames. A rate is the mean over the last
// two seconds. If readings come more slowly, it is the mean over the time
// between the last two readings.
//
//     Rates rates;
//     auto hosts = FindRunningHosts(milliseconds(0));
//     if (hosts) rates.Fill(*hosts, Clock::now());
//
// A session that was not in the last reading has no rate. If a count falls,
// which no honest bulkheadd sends, its session is treated as new. Not
// thread-safe.
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
