// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "core/application/worker_link/worker_link.h"
#include "core/include/bulkhead/status.h"
#include "core/worker_protocol/frame_pool.h"

namespace bulkhead::session {

// The memory that the workers of a stream write their output into.
//
// It outlives a worker that is known to have ended: the next worker is granted
// the slots that no frame of the caller occupies, as long as bulkheadd has the
// descriptor. The memory of a worker that may still run is left to it and to
// the caller's frames, and the next worker gets a new pool. Not thread-safe.
class StreamMemory {
 public:
  using Make =
      std::function<Result<std::shared_ptr<worker_protocol::FramePool>>()>;

  // Hands the memory to a worker that has opened the stream. Calls `make` if
  // there is none that the worker can get.
  Status GiveTo(worker_link::WorkerLink& link, const Make& make);
  // Uses another pool from now on; the caller attaches it to the worker.
  void Replace(std::shared_ptr<worker_protocol::FramePool> pool) {
    pool_ = std::move(pool);
  }
  // `kept` is as in WorkerRecovery::Client.
  void WorkerLost(bool kept);

 private:
  std::shared_ptr<worker_protocol::FramePool>
      pool_;  // null if the next worker needs a new one
};

}  // namespace bulkhead::session
