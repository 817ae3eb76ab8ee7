// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace bulkhead::ipc {

// A word in shared memory that shows other processes when one thread has ended,
// however it ended: the kernel sets kOwnerDied in it and wakes one thread that
// sleeps on it (set_robust_list(2)). No descriptor and no third process is
// needed for that.
//
//   RobustWord::Own(&header->owner);          // in the thread that is watched
//   WatchedWord::Robust(&header->owner)       // for those who wait (waiter.h)
//
// Trust: the owner is trusted, such as bulkheadd's thread. A session's worker
// has no such word: with a list that it can write it could have the kernel wake
// whoever waits on a page of a file (FORMAT.md).
//
// Threads: a thread has at most one such word. The word takes the place of the
// robust mutexes of the C library in that thread, which must hold none.
class RobustWord {
 public:
  // Set by the kernel once the owner has ended (FUTEX_OWNER_DIED).
  static constexpr uint32_t kOwnerDied = 0x40000000;

  // Makes the calling thread the owner of `word`, which must stay mapped until
  // the thread has ended. Returns false if the kernel refuses
  // it; then the word never shows anything.
  static bool Own(std::atomic<uint32_t>* word);
};

}  // namespace bulkhead::ipc
