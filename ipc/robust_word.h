// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace bulkhead::ipc {

// A word in shared memory by which other processes notice that a thread (the
// owner) has ended, however it ended: the kernel sets kOwnerDied in the word
// and wakes one thread that sleeps on it (set_robust_list(2)). This needs no
// descriptor and no third process.
//
//   RobustWord::Own(&header->owner);          // in the thread that is watched
//   WatchedWord::Robust(&header->owner)       // in waiting threads (waiter.h)
//
// Trust: the owner has to be trusted, such as bulkheadd's thread. A session's
// worker never owns such a word: a worker could register a word in a page of a
// file, and have the kernel wake other processes that sleep on that word
// (FORMAT.md).
//
// Threads: a thread owns at most one such word. The thread must hold no robust
// mutex of the C library, whose list the word replaces.
class RobustWord {
 public:
  // Set by the kernel once the owner has ended (FUTEX_OWNER_DIED).
  static constexpr uint32_t kOwnerDied = 0x40000000;

  // Makes the calling thread the owner of `word`, which must stay mapped until
  // the thread has ended. Returns false if the kernel refuses; the word then
  // never changes.
  static bool Own(std::atomic<uint32_t>* word);
};

}  // namespace bulkhead::ipc
