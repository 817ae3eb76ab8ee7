// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace bulkhead {

// The number of sessions of a Host that have a place in SessionEnds at a time.
inline constexpr uint32_t kMostSessionEnds = 16'383;

// Memory in which one bulkheadd shows the application which workers have ended.
// A thread that sleeps until its worker replies also sleeps on a word of this
// memory (ipc/waiter.h), so it needs no descriptor for each worker. bulkheadd
// writes, the application reads; both are trusted. Zeroed memory means that
// nothing has ended. Each bulkheadd has its own memory.
struct SessionEnds {
  // A RobustWord, which the kernel marks when bulkheadd itself has ended.
  std::atomic<uint32_t> supervisor;
  // For each place, which one session has at a time: EndMark() of the latest
  // session in this place whose worker has ended; 0 if there is none yet.
  std::atomic<uint32_t> ended[kMostSessionEnds];
};
static_assert(sizeof(SessionEnds) == 64 * 1024);

// Returns the mark of the session with this number; never 0.
constexpr uint32_t EndMark(uint64_t session) {
  return static_cast<uint32_t>(session % UINT32_MAX) + 1;
}

}  // namespace bulkhead
