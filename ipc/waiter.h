// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "ipc/deadline.h"
#include "ipc/error.h"
#include "ipc/region_header.h"
#include "ipc/unique_fd.h"

namespace bulkhead::ipc {

// Waits for the other side of a ring. Waking a process on another core costs a
// hundred times as much as passing a message. A wait therefore first spins for
// about twenty microseconds and only then sleeps in the kernel.
//
//   Expected<std::optional<CopiedMessage>> reply;
//   switch (waiter.Await([&] {
//     reply = reader.TryRead();
//     return !reply || *reply;
//   }, deadline)) ...
//
// No wake is lost, because each side stores before it loads and all accesses
// are in one total order. At least one of the two loads marked * sees the other
// side's store:
//
//   sleeper                         waker
//   sleeping = reason               write_cursor = ...  (RingWriter)
//   * ready()? reads the cursor     * sleeping != 0?    (WakePeer)
//   ppoll(eventfd)                  write(eventfd)
//
// Therefore `ready` may read only two parts of the peer's state: the cursors,
// and messages on the socket that is the death descriptor (see below).
//
// Trust: a hostile peer can wake this side needlessly or fail to wake it. Both
// cost at most the time until the deadline. The peer shares the file
// description of the eventfd, so the lock-down must keep the peer from clearing
// O_NONBLOCK (fcntl F_SETFL, ioctl FIONBIO). Otherwise a waker would block on a
// full counter.
//
// Threads: one thread at a time. The system calls that the lock-down must allow
// are ppoll, read and sched_yield for Await, write for WakePeer, and recvmsg
// and sched_getaffinity for the constructor.

// The event that a side waits for.
enum class WakeReason : uint32_t {
  kRecord = 1,  // a record to read
  kRoom = 2,    // room to write a record
};

enum class Wake {
  kReady,
  // The peer is gone, and ready() was still false after that was known: no
  // record of the peer is left to read.
  kPeerGone,
  kDeadline,
};

class Waiter {
 public:
  // `own` is the header of this side's region. The peer writes `own_eventfd`.
  // `peer_death_fd` tells when the peer is gone: a pidfd becomes readable, a
  // socket is closed at the other end. A message on that socket makes Await
  // call ready() again. A ready() that receives the message should then return
  // true.
  Waiter(RegionHeader* own, int own_eventfd, int peer_death_fd,
         bool may_spin = MoreThanOneCpu());

  // Waits until ready() returns true, the peer is gone or the deadline has
  // passed. Calls ready() often, on this thread, and not again after it
  // returned true. ready() must therefore be cheap.
  template <typename Ready>
  Wake Await(Ready ready, Deadline deadline,
             WakeReason reason = WakeReason::kRecord);

  // Returns whether this thread may run on more than one CPU, or false if the
  // kernel does not tell.
  static bool MoreThanOneCpu();

 private:
  enum class Event { kLookAgain, kPeerGone, kDeadline };

  using Instant = std::chrono::steady_clock::time_point;

  // Spins for a moment. Returns false once it is time to sleep instead.
  static bool SpinOnce(Instant start);
  Event Sleep(Deadline deadline, bool* watch_messages) const;

  RegionHeader* own_;
  int own_eventfd_;
  int peer_death_fd_;
  bool death_fd_is_socket_;
  bool may_spin_;
};

// Wakes the peer if it sleeps for `reason`. Call after each write or read that
// the peer may wait for.
void WakePeer(const RegionHeader* peer, int peer_eventfd,
              WakeReason reason = WakeReason::kRecord);

// Creates a non-blocking eventfd with close-on-exec.
Expected<UniqueFd> MakeEventFd();

template <typename Ready>
Wake Waiter::Await(Ready ready, Deadline deadline, WakeReason reason) {
  if (ready()) return Wake::kReady;
  if (may_spin_) {
    const Instant start = std::chrono::steady_clock::now();
    while (SpinOnce(start)) {
      if (ready()) return Wake::kReady;
    }
  }
  own_->sleeping.store(static_cast<uint32_t>(reason));
  bool watch_messages = death_fd_is_socket_;
  Event event = Event::kLookAgain;
  bool is_ready = ready();
  while (!is_ready && event == Event::kLookAgain) {
    event = Sleep(deadline, &watch_messages);
    is_ready = ready();
  }
  own_->sleeping.store(0, std::memory_order_relaxed);
  if (is_ready) return Wake::kReady;
  return event == Event::kPeerGone ? Wake::kPeerGone : Wake::kDeadline;
}

}  // namespace bulkhead::ipc
