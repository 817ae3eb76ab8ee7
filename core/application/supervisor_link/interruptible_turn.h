// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor_link {

// A mutex for which a thread waits until it is free or until Cancel() ends the
// call of that thread. A mutex of the C++ library cannot be waited for together
// with a descriptor; this one is an eventfd, which is readable while nobody has
// the turn.
//
//   auto held = turn.Take(cancel.fd());
//   if (!held) return ...;
//
// Thread-safe. Whoever has the turn must bound the time.
class InterruptibleTurn {
 public:
  // Gives the turn back when it is destroyed. Must not outlive the turn.
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

  // Returns nullopt once `interrupt_fd` is readable, unless the turn is free;
  // -1 is for none.
  std::optional<Held> Take(int interrupt_fd) const;

 private:
  explicit InterruptibleTurn(ipc::UniqueFd event) : event_(std::move(event)) {}

  ipc::UniqueFd event_;
};

}  // namespace bulkhead::supervisor_link
