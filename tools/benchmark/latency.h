// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <string>

#include "tools/benchmark/recovery.h"
#include "tools/benchmark/series.h"

namespace bulkhead::benchmark {

// How long things take that happen once.
struct Latency {
  Series cold_open{"first frame, ours, nothing running yet", "ms", {}};
  Series open{"first frame, ours, backend running", "ms", {}};
  Series open_in_process{"first frame, libav in process", "ms", {}};
  // The median of those of one round, which follow each other.
  Series worker_start{"new session worker ready", "ms", {}};
  Recovery recovery;
};

// `rounds` of each, after a round that does not count. `clip` has `frames`;
// sessions of `small_clip` are opened for the workers' sake.
Result<Latency> MeasureLatency(const HostOptions& options,
                               const std::string& clip, uint64_t frames,
                               const std::string& small_clip, int rounds);

}  // namespace bulkhead::benchmark
