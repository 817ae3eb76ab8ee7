// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>
#include <kj/timer.h>

#include <memory>

#include "core/worker_protocol/step_deadline.h"

namespace bulkhead::sockets {

// Resolves once a worker's deadline has passed. A worker that had to wait for a
// processor gets more time (StepDeadline). `timer` must outlive the promise.
inline kj::Promise<void> Lateness(
    kj::Timer& timer, std::shared_ptr<worker_protocol::StepDeadline> deadline) {
  return timer
      .afterDelay(deadline->next().remaining().count() * kj::NANOSECONDS)
      .then([&timer, deadline]() -> kj::Promise<void> {
        if (!deadline->GoesOn()) return kj::READY_NOW;
        return Lateness(timer, deadline);
      });
}

}  // namespace bulkhead::sockets
