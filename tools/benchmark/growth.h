// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host_options.h>
#include <bulkhead/status.h>

#include "tools/benchmark/command_line.h"
#include "tools/benchmark/table.h"

namespace bulkhead::benchmark {

// The measurements of `tools/bench --growth`: how cost grows with a number.
struct GrowthOptions {
  RunOptions run;
  HostOptions host;  // With libexec_dir.
  int most_sessions = 1000;
};

// 1 to 1,000 sessions of a 480p clip at once, beside as many decoders of libav
// in this process: memory, descriptors, the start of one, frames/s in turn.
// Rows that the machine or a limit does not allow are not reached.
Result<Table> MeasureSessions(const GrowthOptions& options);

// 1 to 500 installed backends, beside importlib.metadata: discovery, listing,
// the first stream of the last backend.
Result<Table> MeasureBackends(const GrowthOptions& options);

// Files of 1 to 100 s, beside libav in this process: open, index and first
// frame, frames at random places, memory.
Result<Table> MeasureLengths(const GrowthOptions& options);

}  // namespace bulkhead::benchmark
