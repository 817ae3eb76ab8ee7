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

// Makes a thread that waits inside a call of the library end the call. The
// state is one word of memory, on which a thread that waits for a worker sleeps
// beside what it waits for (word()). A thread that waits for bulkheadd, with
// poll(), has an eventfd for as long as that takes (Watch).
//
//   const CancelSignal::Watch watch(cancel);
//   ... poll watch.fd() ...
//   if (cancel.Take()) return Cancelled();
//
// A signal that comes between two waits is not lost.
//
// Raise() may be called on any thread and in a signal handler; the rest on
// threads that are inside a call of a session or a Host.
class CancelSignal {
 public:
  // A descriptor that is readable once the signal is raised. Threads that wait
  // at the same time share it.
  class Watch {
   public:
    // Watches nothing if `signal` is null.
    explicit Watch(CancelSignal* signal);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    // Returns -1 if nothing is watched.
    int fd() const { return fd_; }
    // Fails with kResourceExhausted if there is no descriptor left.
    const Status& status() const { return status_; }

   private:
    CancelSignal* const signal_;
    int fd_ = -1;
    Status status_;
  };

  // Returns the signal of a caller's Cancellation, or a new one without that.
  static std::shared_ptr<CancelSignal> Of(
      const std::optional<Cancellation>& cancellation);
  // Returns the signal of a caller's Cancellation, or null without that.
  static CancelSignal* In(const std::optional<Cancellation>& cancellation) {
    return cancellation ? cancellation->signal_.get() : nullptr;
  }

  CancelSignal();

  // Does nothing in a fork().
  void Raise();
  // Returns true if the signal was raised since the last Take(). The caller
  // then returns Cancelled() from the call of the application.
  bool Take();
  // The word that ends a wait while the signal is raised.
  ipc::WatchedWord word() const {
    return {.word = &raised_,
            .means = ipc::Wake::kInterrupted,
            .scope = ipc::WatchedWord::Scope::kProcess};
  }

 private:
  const pid_t owner_;
  std::atomic<uint32_t> raised_ = 0;
  // Calls of Raise() that may be about to use event_. It is closed only while
  // there is none, since its number may then be another file's.
  std::atomic<uint32_t> raisers_ = 0;
  std::atomic<int> event_ = -1;
  // Protects watchers_, and opening, draining and closing event_.
  std::mutex mutex_;
  int watchers_ = 0;
};

// Returns the error of a call that was ended by its caller.
Status Cancelled();

}  // namespace bulkhead::supervisor_link
