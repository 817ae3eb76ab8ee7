// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host_options.h>
#include <bulkhead/status.h>

#include "tools/benchmark/command_line.h"
#include "tools/benchmark/table.h"

namespace bulkhead::benchmark {

// The measurements of `tools/bench --growth`, which show how costs grow with
// the number of sessions or backends, or the length of a file.

// The options of all measurements.
struct GrowthOptions {
  RunOptions run;
  HostOptions host;  // libexec_dir must be set.
  // The largest number of sessions to measure.
  int most_sessions = 1000;
};

// Measures 1 to 1,000 sessions of a 480p clip that are open at once, beside as
// many decoders of libav in this process: memory, descriptors, the start of a
// session, and frames/s. One thread takes a frame from each session in turn.
// Rows for which the machine has too little memory, or that exceed a limit, are
// marked as not reached.
Result<Table> MeasureSessions(const GrowthOptions& options);

// Measures 1 to 500 installed backends, beside Python's importlib.metadata:
// discovery, listing, and the first stream of the last backend.
Result<Table> MeasureBackends(const GrowthOptions& options);

// Measures files of 1 to 100 s, beside libav in this process: the time to open
// a file, index it and get its first frame; random access; memory.
Result<Table> MeasureLengths(const GrowthOptions& options);

}  // namespace bulkhead::benchmark
