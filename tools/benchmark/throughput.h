// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <string>

#include "tools/benchmark/series.h"

namespace bulkhead::benchmark {

// The frames per second of three decoders for a whole clip, including the time
// to open it. Every byte of every frame is read.
struct Throughput {
  Series in_process{"(a) libav in process", "frames/s", {}};
  Series bulkhead{"(b) Bulkhead, cpu", "frames/s", {}};
  Series pipe{"(c) ffmpeg through a pipe", "frames/s", {}};
  uint64_t frames = 0;
};

// Measures `rounds` rounds of the three decoders after a warm-up round. Returns
// kInternal if their pixels differ, since they would then not do the same work.
Result<Throughput> MeasureThroughput(Host& host, const std::string& clip,
                                     int rounds);

}  // namespace bulkhead::benchmark
