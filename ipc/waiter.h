// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "ipc/deadline.h"
#include "ipc/error.h"
#include "ipc/region_header.h"
#include "ipc/unique_fd.h"

namespace bulkhead::ipc {

// Waiting for the other side of a ring. Waking a process on another core costs
// a hundred times what passing a message does, so a wait first spins for some
// twenty microseconds, and the kernel is only asked when it must be.
//
//   Expected<std::optional<CopiedMessage>> reply;
//   switch (waiter.Await([&] {
//     reply = reader.TryRead();
//     return !reply || *reply;
//   }, deadline)) ...
//
// No wake is lost, because each side stores before it loads and both words are
// in one total order. One of the two rows marked * sees the other's store:
//
//   sleeper                         waker
//   sleeping = reason               write_cursor = ...  (RingWriter)
//   * ready()? reads the cursor     * sleeping != 0?    (WakePeer)
//   ppoll(eventfd)                  write(eventfd)
//
// `ready` must therefore depend on nothing of the peer's but its cursors (or
// the socket that is the death descriptor, see below).
//
// Trust: a hostile peer can wake this side without need and can fail to wake
// it; both cost at most the time until the deadline. It shares the eventfd's
// file description, so the lock-down must keep it from clearing O_NONBLOCK
// (fcntl F_SETFL, ioctl FIONBIO): wakers would block on a full counter.
//
// Threads: one thread at a time. For the lock-down: Await calls ppoll, read and
// sched_yield, WakePeer write, the constructor recvmsg and sched_getaffinity.

// What a side waits for: a record to read, or room to write one.
enum class WakeReason : uint32_t {
  kRecord = 1,
  kRoom = 2,
};

enum class Wake {
  kReady,
  kPeerGone,  // and ready() was false even after that was known
  kDeadline,
};

class Waiter {
 public:
  // `own` is this side's header and `own_eventfd` what its peer writes.
  // `peer_death_fd` tells that the peer is gone: a pidfd by being readable, a
  // socket by being closed at the other end. A message on such a socket makes
  // Await look at ready() again, which may receive it and should then be true.
  Waiter(RegionHeader* own, int own_eventfd, int peer_death_fd,
         bool may_spin = MoreThanOneCpu());

  // Returns once ready() is true, which it calls on this thread: often, cheaply
  // and never again after it was true.
  template <typename Ready>
  Wake Await(Ready ready, Deadline deadline,
             WakeReason reason = WakeReason::kRecord);

  // Whether this thread may run on several; false if the kernel will not say.
  static bool MoreThanOneCpu();

 private:
  enum class Event { kLookAgain, kPeerGone, kDeadline };

  using Instant = std::chrono::steady_clock::time_point;

  // False when it is time to sleep instead.
  static bool SpinOnce(Instant start);
  Event Sleep(Deadline deadline, bool* watch_messages) const;

  RegionHeader* own_;
  int own_eventfd_;
  int peer_death_fd_;
  bool death_fd_is_socket_;
  bool may_spin_;
};

// Wakes the peer if it sleeps for `reason`. After each write or read that it
// may wait for.
void WakePeer(const RegionHeader* peer, int peer_eventfd,
              WakeReason reason = WakeReason::kRecord);

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
