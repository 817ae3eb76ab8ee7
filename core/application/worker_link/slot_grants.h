// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "core/application/worker_link/worker_process.h"
#include "core/include/bulkhead/status.h"
#include "core/worker_protocol/frame_pool.h"
#include "core/worker_protocol/worker_channel.h"

namespace bulkhead::worker_link {

// Grants a worker the slots of its frame pool. The worker may write into a
// granted slot until it publishes a picture or samples there. Then the slot
// belongs to the application until the frame is released. The pool grows when
// the worker and the application need more slots than there are.
//
// The ledger of the pool records who holds which slot. A worker that does not
// empty its ring of grants, so that a grant fails, is killed.
//
// Owned by WorkerLink, which also owns the channel and the process. Not
// thread-safe.
class SlotGrants {
 public:
  SlotGrants(worker_protocol::WorkerChannel& channel, WorkerProcess& process)
      : channel_(channel), process_(process) {}

  // Sets the pool whose slots are granted. The worker must have mapped it
  // before the next grant.
  void Use(std::shared_ptr<worker_protocol::FramePool> pool) {
    pool_ = std::move(pool);
  }
  // Returns null before Use().
  const std::shared_ptr<worker_protocol::FramePool>& pool() const {
    return pool_;
  }

  // Allocates the pool's first slot early, if it has none yet, so that the
  // worker need not wait for the slot later. An error is ignored here, since
  // the next grant reports it.
  void AllocateFirst();
  // Grants the worker every free slot. If it then holds fewer than `wanted`,
  // the pool grows: by one slot, and further until the worker holds two. Does
  // nothing if `wanted` is 0. Returns kResourceExhausted if the application
  // holds all slots.
  Status GrantFree(uint64_t wanted);
  // Grants one more slot to a worker that waits because its decoder keeps all
  // its slots as reference pictures. `grants` is the number of grants that the
  // worker had seen. Does nothing if it has got a later grant. Returns
  // kResourceExhausted if the pool cannot grow.
  Status GrantAnother(uint32_t grants);

 private:
  // Returns OK if `granted` is OK. If not, kills the worker and returns why.
  Status Checked(const Status& granted);

  worker_protocol::WorkerChannel& channel_;
  WorkerProcess& process_;
  std::shared_ptr<worker_protocol::FramePool> pool_;
};

}  // namespace bulkhead::worker_link
