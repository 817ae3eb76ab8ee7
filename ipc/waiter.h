// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "ipc/deadline.h"
#include "ipc/region_header.h"

namespace bulkhead::ipc {

// Waits for the other side of a ring. Waking a process on another core costs a
// hundred times as much as passing a message, but spinning is wasted on a peer
// that takes milliseconds. So a wait spins for as long as a wake takes, if the
// previous wait was that short. If the previous wait was longer, or on a single
// processor, the wait calls sched_yield() once instead, so that a peer on the
// same processor can answer. After that, the wait sleeps in the kernel on words
// of shared memory (futexes), so a session needs no descriptor to wait.
//
//   Expected<std::optional<CopiedMessage>> reply;
//   switch (waiter.Await([&] {
//     reply = reader.TryRead();
//     return !reply || *reply;
//   }, deadline)) ...
//
// No wake is lost, because each side stores before it loads and all accesses
// are in one total order:
//
//   sleeper                          waker
//   seen = peer.wakes                write_cursor = ...  (RingWriter)
//   sleeping = reason                * sleeping != 0?    (WakePeer)
//   * ready()? reads the cursor      wakes = wakes + 1
//   sleep while wakes == seen        wake those who sleep on wakes
//
// At least one of the two loads marked * sees the other side's store. If the
// sleeper's load does, the sleeper finds the record and does not sleep. If only
// the waker's load does, the sleeper has read the old cursor, and before it the
// old `wakes`. The waker then adds to `wakes` and wakes. The kernel compares
// `wakes` with `seen` and begins the sleep in one step, into which no
// FUTEX_WAKE falls. So the sleeper does not sleep, or it sleeps already and is
// woken.
//
// So `ready` may read only words of the peer that the peer changes before it
// calls WakePeer(), such as cursors.
//
// A wait also ends when one of several further words changes (WatchedWord),
// which other processes or threads write. Sleeping on several words takes
// futex_waitv. Where that is missing (before Linux 5.16, or in a container that
// forbids it), the waiter sleeps on `wakes` alone and checks the other words
// every kSlice.
//
// Trust: a hostile peer can wake this side needlessly or fail to wake it. Both
// cost at most the time until the deadline.
//
// Threads: one thread at a time. The lock-down must allow the system calls
// futex (FUTEX_WAIT, and FUTEX_WAKE of one), sched_yield, and sched_getaffinity
// for the constructor.

// The event that a side waits for.
enum class WakeReason : uint32_t {
  kRecord = 1,  // a record to read
  kRoom = 2,    // room to write a record
};

// The reason why a wait ended.
enum class Wake {
  kReady,  // ready() returned true
  // A watched word says that the peer is gone, and ready() was still false when
  // asked after that. So no record of the peer is left to read.
  kPeerGone,
  kInterrupted,  // a watched word says that the caller has to stop waiting
  kDeadline,     // the deadline has passed
};

// A word that ends a wait once (word & mask) == value. After writing the word,
// its writer wakes the threads that sleep on it (WakeSleepers). Await() then
// returns `means`.
struct WatchedWord {
  const std::atomic<uint32_t>* word = nullptr;
  uint32_t mask = ~0u;
  uint32_t value = 1;
  Wake means = Wake::kPeerGone;
  enum class Scope {
    kProcess,   // in this process's own memory
    kShared,    // in shared memory
    kOfOwner,   // a RobustWord: the kernel wakes one thread, which wakes the
                // rest
    kWithPeer,  // written by the peer, which then calls WakePeer()
  } scope = Scope::kShared;

  // Watches a RobustWord: its owner's end means that the peer is gone.
  static WatchedWord Robust(const std::atomic<uint32_t>* word);
  bool ends() const { return (word->load() & mask) == value; }
};

class Waiter {
 public:
  // The longest sleep on `wakes` alone, before the watched words are checked.
  static constexpr std::chrono::milliseconds kSlice{50};
  static constexpr size_t kMostWords = 4;

  // `own` and `peer` are the headers of the two regions of a session. `words`
  // are the watched words, at most kMostWords. Tests set `may_sleep_on_many` to
  // false.
  Waiter(RegionHeader* own, const RegionHeader* peer,
         std::initializer_list<WatchedWord> words,
         bool may_spin = MoreThanOneCpu(), bool may_sleep_on_many = true);

  // Waits until ready() returns true, a watched word ends the wait, or the
  // deadline has passed. Calls ready() often, on this thread, and not again
  // after it returned true; so ready() must be cheap.
  template <typename Ready>
  Wake Await(Ready ready, Deadline deadline,
             WakeReason reason = WakeReason::kRecord);

  // Returns whether this thread may run on more than one CPU, or false if the
  // kernel does not say.
  static bool MoreThanOneCpu();
  // Returns whether this kernel lets a thread sleep on several words.
  static bool KernelSleepsOnMany();

 private:
  using Instant = std::chrono::steady_clock::time_point;

  // Spins for a moment. Returns false once it is time to sleep instead.
  // `yielded` says whether this wait has yielded already; SpinOnce() sets it.
  bool SpinOnce(Instant start, bool& yielded) const;
  // Remembers whether a wait that began at `start` was short.
  void RememberWait(Instant start);
  // Sleeps while peer_->wakes is `seen`. Returns kReady if the caller has to
  // call ready() again; any other value is the reason that ends the wait.
  Wake Sleep(uint32_t seen, Deadline deadline);
  // Returns the reason for which a watched word ends the wait; kReady if none
  // does.
  Wake Look() const;
  // Sleeps once; returns early if a watched word has changed.
  void SleepInKernel(uint32_t seen, Deadline deadline);

  RegionHeader* own_;
  const RegionHeader* peer_;
  std::array<WatchedWord, kMostWords> words_;
  size_t word_count_ = 0;
  bool may_spin_;
  bool may_sleep_on_many_;
  bool last_was_short_ = false;
};

// Wakes the peer if it sleeps for `reason`. Call after each write or read that
// the peer may wait for. `own` is the header that this side writes.
void WakePeer(RegionHeader* own, const RegionHeader* peer,
              WakeReason reason = WakeReason::kRecord);

// Wakes the threads that sleep on a word: threads of this process if the scope
// is kProcess, threads of all processes for the other scopes.
void WakeSleepers(const std::atomic<uint32_t>* word, WatchedWord::Scope scope);

template <typename Ready>
Wake Waiter::Await(Ready ready, Deadline deadline, WakeReason reason) {
  if (ready()) return Wake::kReady;
  const Instant start = std::chrono::steady_clock::now();
  bool yielded = false;
  while (SpinOnce(start, yielded)) {
    if (ready()) return Wake::kReady;
  }
  Wake event = Wake::kReady;
  bool is_ready = false;
  while (!is_ready && event == Wake::kReady) {
    const uint32_t seen = peer_->wakes.load();
    own_->sleeping.store(static_cast<uint32_t>(reason));
    is_ready = ready();
    if (is_ready) break;
    event = Sleep(seen, deadline);
    if (event != Wake::kReady) is_ready = ready();
  }
  own_->sleeping.store(0, std::memory_order_relaxed);
  RememberWait(start);
  return is_ready ? Wake::kReady : event;
}

}  // namespace bulkhead::ipc
