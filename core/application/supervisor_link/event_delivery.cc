// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/event_delivery.h"

#include <unistd.h>

#include <utility>

#include "core/base/status_macros.h"

namespace bulkhead::supervisor_link {

Status EventDelivery::Follow(ipc::UniqueFd connection) {
  EventStream stream(std::move(connection), ::getpid());
  RETURN_IF_ERROR(stream.Ask(0, /*wait=*/true));
  std::lock_guard lock(mutex_);
  streams_.push_back(std::move(stream));
  return Status();
}

void EventDelivery::Deliver() {
  if (!wanted() || delivering_.exchange(true)) return;
  for (;;) {
    EventStream* stream = nullptr;
    {
      std::lock_guard lock(mutex_);
      if (!streams_.empty()) stream = &streams_.front();
    }
    if (!stream) break;
    // Runs without the mutex, because the observer may call the library.
    const auto events = stream->TryTake();
    // An empty list means that no further event has arrived.
    if (events && events->empty()) break;
    if (events) {
      for (const Event& event : *events) observer_(event);
    } else {
      // The bulkheadd of this stream is dead, and has no more events.
      std::lock_guard lock(mutex_);
      streams_.pop_front();
    }
  }
  delivering_ = false;
}

}  // namespace bulkhead::supervisor_link
