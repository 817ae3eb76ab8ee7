// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>
#include <sys/types.h>

#include <cstdint>
#include <deque>

#include "core/include/bulkhead/event.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::records {

// Keeps the latest kMaxEvents events for operators who follow them, and writes
// each event to the machine's journal (journal.h).
//
// Events are sent only on request: a follower asks for the events after the
// latest one that it knows. So a slow or stopped follower costs nothing, and
// learns how many events it has missed. Bound to the event loop's thread.
class EventLog {
 public:
  static constexpr size_t kMaxEvents = 1'024;
  static constexpr size_t kMaxPerAnswer = 64;

  // `application` is the application's pid for the journal; with 0, nothing is
  // written to the journal.
  explicit EventLog(pid_t application = 0) : application_(application) {}
  KJ_DISALLOW_COPY(EventLog);

  // Adds an event; sets its number and its time.
  void Add(Event event);
  // The number of the latest event; 0 if there was none.
  uint64_t latest() const { return next_ - 1; }
  // Resolves once there is an event with a greater number than `number`.
  kj::Promise<void> WhenAfter(uint64_t number);
  // Writes into `out` up to kMaxPerAnswer events that follow event `after`, and
  // how many events after it are no longer kept.
  void Describe(uint64_t after, ipc::schema::Events::Builder out) const;

 private:
  const pid_t application_;
  std::deque<Event> events_;
  uint64_t next_ = 1;
  kj::PromiseFulfillerPair<void> added_ = kj::newPromiseAndFulfiller<void>();
  kj::ForkedPromise<void> when_added_ = added_.promise.fork();
};

}  // namespace bulkhead::records
