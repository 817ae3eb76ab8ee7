// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "ipc/unique_fd.h"

namespace bulkhead::records {

// The workers that were sent a SIGKILL and have not ended yet. A worker that a
// driver holds in the kernel (state D) may never end. After kPatience such a
// worker is written off: `bulkhead ps` lists it for operators, and nothing else
// can be done. No function waits. The pidfd of a worker shows whether the
// worker has ended, even after its pid has gone to another process.
//
// Keeps the kMaxWorkers workers that were killed last. Bound to the event
// loop's thread.
class KilledWorkers {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kPatience{2};
  static constexpr size_t kMaxWorkers = 256;

  struct Worker {
    std::string backend;
    pid_t pid;
    std::chrono::milliseconds since;  // time since the SIGKILL
  };

  void Add(std::string backend, ipc::UniqueFd pidfd,
           Clock::time_point now = Clock::now());
  // Returns the workers that are written off, oldest first.
  std::vector<Worker> WrittenOff(Clock::time_point now = Clock::now());

 private:
  struct Killed {
    std::string backend;
    ipc::UniqueFd pidfd;
    Clock::time_point when;
  };
  void DropDead();

  std::deque<Killed> killed_;
};

}  // namespace bulkhead::records
