// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <mutex>

#include "core/control/event_stream.h"
#include "core/include/bulkhead/event.h"
#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor_link {

// Passes the events of bulkheadd to the observer of the application
// (HostOptions::on_event). The library has no thread for that. The events wait
// in a socket until a thread of the application has called bulkheadd. At the
// end of the call, that thread takes them with Deliver().
//
// Each bulkheadd has an EventStream of its own. The stream of a dead bulkheadd
// is read to its end before the stream of the next one.
//
// Thread-safe. Owned by SupervisorConnections.
class EventDelivery {
 public:
  // `observer` may be empty, and must outlive this object.
  explicit EventDelivery(const EventObserver& observer) : observer_(observer) {}

  // Returns whether the application has an observer.
  bool wanted() const { return observer_ != nullptr; }
  // Subscribes to the events of a bulkheadd on `connection`.
  Status Follow(ipc::UniqueFd connection);
  // Passes all events that have arrived to the observer, on this thread. Does
  // nothing if another thread is inside Deliver(). The observer may call the
  // library.
  void Deliver();
  // Closes all connections. No other function may be running.
  void Close() { streams_.clear(); }

 private:
  const EventObserver& observer_;
  std::atomic<bool> delivering_ = false;  // a thread is inside Deliver()

  // Protects the queue. The thread that delivers uses the stream at the front
  // without the mutex.
  std::mutex mutex_;
  std::deque<EventStream> streams_;
};

}  // namespace bulkhead::supervisor_link
