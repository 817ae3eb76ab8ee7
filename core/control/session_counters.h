// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

namespace bulkhead {

// The counters of one session, in memory that the application shares with
// bulkheadd. They show operators the speed of a session without a message for
// each frame. The application writes them; bulkheadd may only read. Both are
// trusted, and the numbers are only for people.
struct SessionCounter {
  std::atomic<uint64_t> frames;    // Delivered frames, of all its workers.
  std::atomic<uint64_t> restarts;  // Workers that the session has lost.
  // The time at which the present call of the application began, in nanoseconds
  // of CLOCK_MONOTONIC; 0 while no call waits for the session.
  std::atomic<uint64_t> waiting_since;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// The number of sessions that have counters at a time. Further sessions have
// none.
inline constexpr uint32_t kMaxCountedSessions = 1'024;

}  // namespace bulkhead
