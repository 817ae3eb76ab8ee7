// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bulkhead::cli {

// Processes to kill with SIGKILL once `frame` frames have been delivered.
struct Disturbance {
  uint64_t frame;
  bool zygote;  // The backend's zygote too, before the session worker.
};

// What came of one of them.
struct Incident {
  uint64_t frame = 0;
  int zygote_pid = 0;  // 0: was left alone
  int worker_pid = 0;
  int new_worker_pid = 0;
  // Frames that the worker had put into shared memory before it died.
  uint64_t frames_ahead = 0;
  // The first frame by the new worker, and for how long the frames from the
  // kill to this one were waited for: our own work between them is not counted.
  uint64_t recovered_at = 0;
  double waited_ms = 0;
};

struct RunResult {
  std::vector<std::string> hashes;  // MD5 of each frame
  std::vector<Incident> incidents;
};

// Decodes all of `path` on `device`, with the disturbances, which are sorted by
// frame. `see` is called with each frame; `recovered` says that it is the first
// one after a death.
Result<RunResult> DecodeDisturbed(
    Host& host, const std::string& path, const std::string& device,
    const std::vector<Disturbance>& disturbances,
    const std::function<void(const Frame&, bool recovered)>& see);

}  // namespace bulkhead::cli
