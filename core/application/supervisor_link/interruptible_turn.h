// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor_link {

// A mutex whose Take() can be interrupted: a thread waits until the mutex is
// free or until a given descriptor is readable, for example the descriptor of a
// CancelSignal::Watch. A std::mutex cannot be waited for together with a
// descriptor, so this mutex is an eventfd, which is readable while no thread
// has the turn.
//
//   auto held = turn.Take(watch.fd());
//   if (!held) return ...;  // interrupted
//
// To have the turn means to hold the mutex. Thread-safe. A thread that has the
// turn must give it back within a bounded time.
class InterruptibleTurn {
 public:
  // Gives the turn back when it is destroyed. Must not outlive the
  // InterruptibleTurn.
  class Held {
   public:
    Held(Held&& other) noexcept : event_(std::exchange(other.event_, -1)) {}
    Held& operator=(Held&&) = delete;
    ~Held();

   private:
    friend class InterruptibleTurn;
    explicit Held(int event) : event_(event) {}

    int event_;
  };

  static Result<InterruptibleTurn> Create();

  // Waits for the turn. Returns nullopt if `interrupt_fd` becomes readable
  // before the turn is free. With -1, the wait cannot be interrupted.
  std::optional<Held> Take(int interrupt_fd) const;

 private:
  explicit InterruptibleTurn(ipc::UniqueFd event) : event_(std::move(event)) {}

  ipc::UniqueFd event_;
};

// Returns whether `interrupt_fd` is readable, that is, whether the thread must
// end its call. Returns false for -1.
bool IsInterrupted(int interrupt_fd);

}  // namespace bulkhead::supervisor_link
