// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <string>

#include "tools/benchmark/recovery.h"
#include "tools/benchmark/series.h"

namespace bulkhead::benchmark {

// The times of events that happen once for each stream or backend, such as an
// opening.
struct Latency {
  Series cold_open{"first frame, ours, nothing running yet", "ms", {}};
  Series open{"first frame, ours, backend running", "ms", {}};
  Series open_in_process{"first frame, libav in process", "ms", {}};
  // The value of a round is the median of several sessions, which are opened
  // one after the other.
  Series worker_start{"new session worker ready", "ms", {}};
  Recovery recovery;
};

// Measures `rounds` rounds after a warm-up round. `clip` has `frames` frames.
// Measures the start of a worker by opening sessions on `small_clip`.
Result<Latency> MeasureLatency(const HostOptions& options,
                               const std::string& clip, uint64_t frames,
                               const std::string& small_clip, int rounds);

}  // namespace bulkhead::benchmark
