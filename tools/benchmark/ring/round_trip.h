// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <chrono>
#include <vector>

#include "tools/benchmark/ring/mechanism.h"

namespace bulkhead::benchmark {

// Where the two processes run.
struct Placement {
  int parent_cpu = 0;
  int child_cpu = 0;
};

// The extent of one measurement: it ends once `most_trips` are made or `time`
// is over, `gap` (asleep) before each trip.
struct TripPlan {
  std::chrono::milliseconds gap{0};
  int most_trips = 0;
  std::chrono::milliseconds time{0};
};

// The round trips of one mechanism.
struct Trips {
  double median_us = 0;
  double p99_us = 0;  // Nearest rank: the slowest of fewer than 100 trips.
  // Processor time of both processes for one trip, and of the timer that
  // ends the gap.
  double cpu_us = 0;
};

// Returns the value below which `share` of the values lie, by nearest rank. The
// values need not be sorted; 0 if there are none.
double Percentile(std::vector<double> values, double share);

// Returns the CPUs on which this process may run.
std::vector<int> AllowedCpus();

// Forks a child that serves `mechanism`, and measures round trips to it. Moves
// the calling thread to the parent's CPU and back. The process must have one
// thread. kInternal if an answer is wrong or does not come.
Result<Trips> MeasureTrips(Mechanism& mechanism, const Placement& placement,
                           const TripPlan& plan);

}  // namespace bulkhead::benchmark
