// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <cstdint>
#include <deque>

#include "core/include/bulkhead/event.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// What has happened, for whoever asks: the latest kMaxEvents.
//
// Nothing is ever sent unasked. A follower asks for what comes after the last
// event that it knows; one that is slow, or stopped, costs nothing, and learns
// how many it has missed. Bound to the event loop's thread.
class EventLog {
 public:
  static constexpr size_t kMaxEvents = 1'024;
  static constexpr size_t kMaxPerAnswer = 64;

  EventLog() = default;
  KJ_DISALLOW_COPY(EventLog);

  // Numbers and dates it.
  void Add(Event event);
  uint64_t latest() const { return next_ - 1; }
  // Resolves once there is an event after that of the number.
  kj::Promise<void> WhenAfter(uint64_t number);
  void Describe(uint64_t after, ipc::schema::Events::Builder out) const;

 private:
  std::deque<Event> events_;
  uint64_t next_ = 1;
  kj::PromiseFulfillerPair<void> added_ = kj::newPromiseAndFulfiller<void>();
  kj::ForkedPromise<void> when_added_ = added_.promise.fork();
};

}  // namespace bulkhead::supervisor
