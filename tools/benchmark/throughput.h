// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <string>

#include "tools/benchmark/series.h"

namespace bulkhead::benchmark {

// Frames per second for the whole clip, including the time to open it, by each
// of three decoders. Every byte of every frame is read.
struct Throughput {
  Series in_process{"(a) libav in process", "frames/s", {}};
  Series bulkhead{"(b) Bulkhead, cpu", "frames/s", {}};
  Series pipe{"(c) ffmpeg through a pipe", "frames/s", {}};
  uint64_t frames = 0;
};

// Measures `rounds` rounds of a, b and c after one warm-up round. Fails with
// kInternal if the three decoders give different pixels, since they then do
// different work.
Result<Throughput> MeasureThroughput(Host& host, const std::string& clip,
                                     int rounds);

}  // namespace bulkhead::benchmark
