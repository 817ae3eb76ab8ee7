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
// hundred times as much as passing a message, and spinning is wasted on a peer
// that takes milliseconds. A wait therefore spins for as long as a wake takes
// if the wait before was that short. Otherwise, and on one processor, it yields
// once, so that a peer on the same processor can answer. Only then it sleeps in
// the kernel, on words of shared memory: a session needs no descriptor to wait.
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
// At least one of the two loads marked * sees the other side's store. If that
// is the sleeper's, it does not sleep. If only the waker's load does, the
// sleeper had read the cursor before it was written, and so had read `wakes`
// before it was counted up: the kernel compares the two while nobody can wake,
// so the sleeper does not begin to sleep, or is woken.
//
// Therefore `ready` may read only cursors, and other words of the peer that the
// peer changes before it calls WakePeer().
//
// A wait also ends by further words (WatchedWord), of others than the peer. On
// a kernel that cannot sleep on several words (futex_waitv, before Linux 5.16,
// or where a container forbids it) the waiter sleeps on `wakes` alone and looks
// at the others every kSlice.
//
// Trust: a hostile peer can wake this side needlessly or fail to wake it. Both
// cost at most the time until the deadline.
//
// Threads: one thread at a time. The system calls that the lock-down must allow
// are futex (FUTEX_WAIT, and FUTEX_WAKE of one) and sched_yield, and
// sched_getaffinity for the constructor.

// The event that a side waits for.
enum class WakeReason : uint32_t {
  kRecord = 1,  // a record to read
  kRoom = 2,    // room to write a record
};

enum class Wake {
  kReady,
  // A word says that the peer is gone, and ready() was still false after that
  // was known: no record of the peer is left to read.
  kPeerGone,
  kInterrupted,  // a word says that the caller is to end the wait
  kDeadline,
};

// A word that ends a wait once (word & mask) == value. Whoever writes it wakes
// those who sleep on it afterwards.
struct WatchedWord {
  const std::atomic<uint32_t>* word = nullptr;
  uint32_t mask = ~0u;
  uint32_t value = 1;
  Wake means = Wake::kPeerGone;
  enum class Scope {
    kProcess,   // written and waited for in this process alone
    kShared,    // in shared memory
    kOfOwner,   // a RobustWord: the kernel wakes one thread, which wakes all
    kWithPeer,  // the peer, which writes it, calls WakePeer() as well
  } scope = Scope::kShared;

  static WatchedWord Robust(const std::atomic<uint32_t>* word);
  bool ends() const { return (word->load() & mask) == value; }
};

class Waiter {
 public:
  static constexpr std::chrono::milliseconds kSlice{50};
  static constexpr size_t kMostWords = 4;

  // `own` and `peer` are the headers of the two regions of a session, `words`
  // what ends a wait besides the peer. `may_sleep_on_many` is false in tests.
  Waiter(RegionHeader* own, const RegionHeader* peer,
         std::initializer_list<WatchedWord> words,
         bool may_spin = MoreThanOneCpu(), bool may_sleep_on_many = true);

  // Waits until ready() returns true, one of the words ends the wait or the
  // deadline has passed. Calls ready() often, on this thread, and not again
  // after it returned true. ready() must therefore be cheap.
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
  // Sleeps while the peer has woken this side `seen` times. Returns kReady if
  // it is time to look again, otherwise what ends the wait.
  Wake Sleep(uint32_t seen, Deadline deadline);
  // Returns what the words say; kReady if nothing.
  Wake Look() const;
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

// Wakes the threads that sleep on a word: of this process, or of all.
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
