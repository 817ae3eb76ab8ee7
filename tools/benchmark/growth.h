// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host_options.h>
#include <bulkhead/status.h>

#include "tools/benchmark/command_line.h"
#include "tools/benchmark/table.h"

namespace bulkhead::benchmark {

// The measurements of `tools/bench --growth`, which show how costs grow with
// the number of sessions or backends, or the length of a file.
struct GrowthOptions {
  RunOptions run;
  HostOptions host;  // libexec_dir must be set.
  int most_sessions = 1000;
};

// Measures 1 to 1,000 sessions of a 480p clip at once, beside as many decoders
// of libav in this process: memory, descriptors, the start of a session, and
// frames/s, taken from one session after the other. Rows for which the machine
// has too little memory, or that exceed a limit, are marked as not reached.
Result<Table> MeasureSessions(const GrowthOptions& options);

// Measures 1 to 500 installed backends, beside Python's importlib.metadata:
// discovery, listing, and the first stream of the last backend.
Result<Table> MeasureBackends(const GrowthOptions& options);

// Measures files of 1 to 100 s, beside libav in this process: opening, index
// and first frame; frames at random places; memory.
Result<Table> MeasureLengths(const GrowthOptions& options);

}  // namespace bulkhead::benchmark
