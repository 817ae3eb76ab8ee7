// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

namespace bulkhead {

// What a host counts of its sessions, in memory that it shares with bulkheadd,
// so that operators see how fast a session is without a message for each frame.
// The host writes, bulkheadd may only read and believes it: both are trusted,
// and the numbers are for people.
struct SessionCounter {
  std::atomic<uint64_t> frames;    // delivered, whichever worker made them
  std::atomic<uint64_t> restarts;  // workers that it went on after
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Sessions beyond them are not counted.
inline constexpr uint32_t kMaxCountedSessions = 1'024;

}  // namespace bulkhead
