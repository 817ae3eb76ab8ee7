// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <string>

#include "tools/benchmark/series.h"

namespace bulkhead::benchmark {

// The time that a stream needs to continue after its worker was killed.
struct Recovery {
  // The next frame may be a frame that the dead worker had decoded ahead.
  Series next_frame{"SIGKILL of the worker to the next frame", "ms", {}};
  Series recovered{"... to the first frame of the new worker", "ms", {}};
  Series reopen_in_process{
      "reopen, seek, decode that frame, in process", "ms", {}};
};

// Kills a worker in the middle of the clip, which has `frames` frames, and adds
// one value to each series. The distance from the last keyframe to the kill
// differs from round to round.
Status MeasureRecovery(Host& host, const std::string& clip, uint64_t frames,
                       int round, Recovery& measured);

}  // namespace bulkhead::benchmark
