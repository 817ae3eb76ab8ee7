// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

namespace bulkhead {

// The counters of one session, in memory that the application shares with
// bulkheadd. So operators see how fast a session is without a message for each
// frame. The application writes; bulkheadd may only read. Both are trusted, and
// the numbers are for people only.
struct SessionCounter {
  std::atomic<uint64_t> frames;    // Delivered, whichever worker made them.
  std::atomic<uint64_t> restarts;  // Workers that the session has lost.
  // The time at which the call began that waits for the session, in nanoseconds
  // of CLOCK_MONOTONIC; 0 while no call waits.
  std::atomic<uint64_t> waiting_since;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// The number of sessions that are counted. Further sessions are not.
inline constexpr uint32_t kMaxCountedSessions = 1'024;

}  // namespace bulkhead
