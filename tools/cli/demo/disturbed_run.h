// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bulkhead::cli::demo {

// A kill of the session worker with SIGKILL after `frame` frames were received.
struct Disturbance {
  uint64_t frame;
  bool zygote;  // Kill the zygote of the backend too, before the worker.
};

// The recovery from one disturbance.
struct Incident {
  uint64_t frame = 0;
  int zygote_pid = 0;  // The zygote that was killed; 0 if none was.
  int worker_pid = 0;  // The worker that was killed.
  int new_worker_pid = 0;
  // The number of frames that the worker had decoded ahead into shared memory
  // before its death. The application received them afterwards.
  uint64_t frames_ahead = 0;
  // The index of the first frame from the new worker.
  uint64_t recovered_at = 0;
  // The total time of all calls of Next() from the kill to the frame
  // `recovered_at`. Excludes the work of this program between the calls.
  double waited_ms = 0;
};

struct RunResult {
  std::vector<std::string> hashes;  // MD5 of each frame
  std::vector<Incident> incidents;
};

// Decodes the video `path` on `device` and carries out the disturbances, which
// must be sorted by frame. Calls `see` with each frame; `recovered` is true for
// the first frame from a new worker.
Result<RunResult> DecodeDisturbed(
    Host& host, const std::string& path, const std::string& device,
    const std::vector<Disturbance>& disturbances,
    const std::function<void(const Frame&, bool recovered)>& see);

}  // namespace bulkhead::cli::demo
