// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "core/include/bulkhead/cancellation.h"
#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::session {

// Tells a thread that waits inside a call of the library to end the call. Every
// wait of a session polls fd() beside what it waits for (Deadline::OrReadable),
// and looks at Take() when it ends early. An eventfd holds the whole state, so
// that a signal that comes between two waits is not lost.
//
// Raise() may be called on any thread and in a signal handler; the rest on the
// one thread that is inside a call of the session.
class CancelSignal {
 public:
  static Result<std::shared_ptr<CancelSignal>> Create();
  // Returns the signal of a caller's Cancellation, or a new one without that.
  static Result<std::shared_ptr<CancelSignal>> Of(
      const std::optional<Cancellation>& cancellation);
  // Returns the signal of a caller's Cancellation, or null without that.
  static CancelSignal* In(const std::optional<Cancellation>& cancellation) {
    return cancellation ? cancellation->signal_.get() : nullptr;
  }

  explicit CancelSignal(ipc::UniqueFd event);

  // Does nothing in a fork(), which shares the eventfd with its parent.
  void Raise();
  // Returns true if the signal was raised since the last Take(). The caller
  // then returns Cancelled() from the call of the application.
  bool Take();
  // Readable while the signal is raised.
  int fd() const { return event_.get(); }

 private:
  const ipc::UniqueFd event_;
  const pid_t owner_;
  // Set before the first write to the eventfd, so that Take() makes no system
  // call for a decoder that was never cancelled.
  std::atomic<bool> ever_raised_ = false;
};

// Returns the error of a call that was ended by its caller.
Status Cancelled();

}  // namespace bulkhead::session
