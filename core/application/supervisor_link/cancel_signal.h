// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "core/include/bulkhead/cancellation.h"
#include "core/include/bulkhead/status.h"
#include "ipc/waiter.h"

namespace bulkhead::supervisor_link {

// A signal by which one thread of the application ends a call of the library in
// which another thread waits. The state is one word of memory, a futex. A
// thread that waits for a worker sleeps on this futex (word()) and on the
// futexes of the worker at the same time. A thread that waits for bulkheadd
// uses poll(), and needs a descriptor: a Watch makes an eventfd for the time of
// the wait.
//
//   const CancelSignal::Watch watch(cancel);
//   ... poll watch.fd() ...
//   if (cancel.Take()) return Cancelled();
//
// A signal that is raised while no thread waits is not lost: the next wait ends
// at once.
//
// Raise() may be called on any thread and in a signal handler. The other
// functions are for threads that are inside a call of a session or a Host.
class CancelSignal {
 public:
  // A descriptor that is readable once the signal is raised. Watches of one
  // signal that exist at the same time share the descriptor.
  class Watch {
   public:
    // Watches nothing if `signal` is null.
    explicit Watch(CancelSignal* signal);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    // Returns -1 if nothing is watched.
    int fd() const { return fd_; }
    // Returns kResourceExhausted if no descriptor was left.
    const Status& status() const { return status_; }

   private:
    CancelSignal* const signal_;
    int fd_ = -1;
    Status status_;
  };

  // Returns the signal of the caller's Cancellation. Returns a new signal if
  // the caller has none.
  static std::shared_ptr<CancelSignal> Of(
      const std::optional<Cancellation>& cancellation);
  // Returns the signal of the caller's Cancellation, or null if the caller has
  // none.
  static CancelSignal* In(const std::optional<Cancellation>& cancellation) {
    return cancellation ? cancellation->signal_.get() : nullptr;
  }

  CancelSignal();

  // Raises the signal. Does nothing in a forked child.
  void Raise();
  // Clears the signal, and returns whether it was raised. If so, the caller
  // ends the application's call with Cancelled().
  bool Take();
  // Returns the futex word for ipc::Waiter, which ends a wait while the signal
  // is raised.
  ipc::WatchedWord word() const {
    return {.word = &raised_,
            .means = ipc::Wake::kInterrupted,
            .scope = ipc::WatchedWord::Scope::kProcess};
  }

 private:
  const pid_t owner_;
  std::atomic<uint32_t> raised_ = 0;
  // The number of Raise() calls that may be about to write to event_. The
  // eventfd is closed only while the number is 0. A write after the close could
  // reach another file that has got the same descriptor number.
  std::atomic<uint32_t> raisers_ = 0;
  std::atomic<int> event_ = -1;  // the eventfd; -1 while there is no Watch
  // Protects watchers_, and opening, draining and closing event_.
  std::mutex mutex_;
  int watchers_ = 0;
};

// Returns kCancelled, the error of a call that the application has ended.
Status Cancelled();

}  // namespace bulkhead::supervisor_link
