// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <string>

#include "tools/benchmark/series.h"

namespace bulkhead::benchmark {

// Frames a second of the whole clip, from opening it to its end, by each of
// the three; every byte of every frame is read.
struct Throughput {
  Series in_process{"(a) libav in process", "frames/s", {}};
  Series bulkhead{"(b) Bulkhead, cpu", "frames/s", {}};
  Series pipe{"(c) ffmpeg through a pipe", "frames/s", {}};
  uint64_t frames = 0;
};

// `rounds` times a, b, c, after a round that does not count. kInternal when the
// pixels of the three are not the same: then it is not the same work.
Result<Throughput> MeasureThroughput(Host& host, const std::string& clip,
                                     int rounds);

}  // namespace bulkhead::benchmark
