// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "core/application/worker_link/worker_link.h"
#include "core/include/bulkhead/status.h"
#include "core/worker_protocol/frame_pool.h"

namespace bulkhead::session {

// Holds the pool of slots into which the workers of a stream write their
// output.
//
// If a worker is known to have ended and bulkheadd has the pool's descriptor,
// the next worker gets the same pool, with all slots that no frame of the
// caller occupies. If not, the old worker may still write into its pool: the
// next worker gets a new pool, and the old pool lives only as long as the
// caller's frames. Owned by the session. Not thread-safe.
class StreamMemory {
 public:
  using Make =
      std::function<Result<std::shared_ptr<worker_protocol::FramePool>>()>;

  // Gives a worker that has opened the stream the present pool, or a new one
  // from `make` if there is no pool that the worker can get.
  Status GiveTo(worker_link::WorkerLink& link, const Make& make);
  // Replaces the pool. The caller attaches the new pool to the worker.
  void Replace(std::shared_ptr<worker_protocol::FramePool> pool) {
    pool_ = std::move(pool);
  }
  // See CurrentWorker::Client::WorkerLost().
  void WorkerLost(bool kept);

 private:
  // Null if the next worker needs a new pool.
  std::shared_ptr<worker_protocol::FramePool> pool_;
};

}  // namespace bulkhead::session
