// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// The workers that were sent a SIGKILL, until they have ended. One that a
// driver holds in the kernel (state D) may never end: it is written off after
// kPatience, and all that is left to do about it is to say so. Nothing waits
// here; the pidfds keep their numbers from coming to mean others.
//
// Bounded: beyond kMaxWorkers the oldest is let go of. Bound to the event
// loop's thread.
class KilledWorkers {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kPatience{2};
  static constexpr size_t kMaxWorkers = 256;

  struct Worker {
    std::string backend;
    pid_t pid;
    std::chrono::milliseconds since;  // the SIGKILL
  };

  void Add(std::string backend, ipc::UniqueFd pidfd,
           Clock::time_point now = Clock::now());
  // Those that are written off.
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

}  // namespace bulkhead::supervisor
