// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace bulkhead {

// The number of sessions of a Host whose workers' ends fit in at a time.
inline constexpr uint32_t kMostSessionEnds = 16'383;

// Memory in which one bulkheadd shows the application that workers have ended,
// so that a thread that sleeps for a worker is woken without a descriptor of
// the worker's own. bulkheadd writes; the application reads, and sleeps on
// these words (ipc/waiter.h). Both are trusted. Zeroed memory says that nothing
// has ended. Each bulkheadd has a memory of its own.
struct SessionEnds {
  // A RobustWord: the kernel marks it when bulkheadd itself has ended.
  std::atomic<uint32_t> supervisor;
  // EndMark() of the session at that place whose worker has ended.
  std::atomic<uint32_t> ended[kMostSessionEnds];
};
static_assert(sizeof(SessionEnds) == 64 * 1024);

// Returns the mark of a session, which is not 0.
constexpr uint32_t EndMark(uint64_t session) {
  return static_cast<uint32_t>(session % UINT32_MAX) + 1;
}

}  // namespace bulkhead
