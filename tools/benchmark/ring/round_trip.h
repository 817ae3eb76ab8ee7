// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <chrono>
#include <vector>

#include "tools/benchmark/ring/mechanism.h"

namespace bulkhead::benchmark {

// The CPUs of the two processes.
struct Placement {
  int parent_cpu = 0;
  int child_cpu = 0;
};

// The extent of one measurement. It ends after `most_trips` round trips, or
// when `time` is over. Before each trip, the parent sleeps for `gap`.
struct TripPlan {
  std::chrono::milliseconds gap{0};
  int most_trips = 0;
  std::chrono::milliseconds time{0};
};

// The figures of one mechanism.
struct Trips {
  double median_us = 0;
  // The 99th percentile by nearest rank; with fewer than 100 trips,
  // the slowest.
  double p99_us = 0;
  // The processor time of both processes per trip, including the timer that
  // ends the gap.
  double cpu_us = 0;
};

// Returns the percentile of the values by nearest rank; 0 if there are none.
// `share` is 0.99 for the 99th percentile.
double Percentile(std::vector<double> values, double share);

// Returns the CPUs on which this process may run.
std::vector<int> AllowedCpus();

// Forks a child that serves `mechanism`, and measures round trips to the child.
// Pins the calling thread to the parent's CPU, and afterwards restores its
// affinity. The process must have a single thread. Returns kInternal if an
// answer is wrong or missing.
Result<Trips> MeasureTrips(Mechanism& mechanism, const Placement& placement,
                           const TripPlan& plan);

}  // namespace bulkhead::benchmark
