// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bulkhead/host.h"

namespace bulkhead::tests {

// A session of the backend `cpu` that shares a Host, and so a bulkheadd, with a
// hostile backend. It plays a clip again and again on a thread of its own, from
// construction to destruction, and the test fails unless
//
// * every frame is the one that FFmpeg decodes,
// * at least one frame came before, and one after, what the hostile one did,
// * the session never lost its worker, and
// * the Host still has the bulkheadd that it had.
//
// The host must outlive this object.
class Neighbour {
 public:
  explicit Neighbour(Host& host);
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;
  ~Neighbour();

 private:
  void Play(VideoDecoder video);
  // Waits until the thread has seen another frame, or has failed.
  void AwaitFrame();

  Host& host_;
  const pid_t supervisor_;
  std::vector<std::string> expected_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t frames_ = 0;    // guarded by mutex_
  bool failed_ = false;  // guarded by mutex_
  bool done_ = false;    // guarded by mutex_
  std::thread thread_;
};

// Calls ActOnHost with a Neighbour beside `act`.
Status ActBesideNeighbour(const HostOptions& options,
                          std::chrono::milliseconds limit,
                          const std::function<Status(Host&)>& act);

}  // namespace bulkhead::tests
