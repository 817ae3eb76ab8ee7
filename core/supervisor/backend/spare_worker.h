// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/sandbox/memory_limit.h"
#include "ipc/unique_fd.h"

namespace bulkhead::backend {

// The worker for the next session of one backend: the spare, which is cloned
// once a session has got its own worker. It is locked down, waits for its
// socket to say more, and has nothing of any session. A session with another
// allowance of memory, or of a later incarnation, does not take it. A spare
// that ends before a session has taken it is counted against nobody; the next
// session has a worker cloned, and finds out why.
//
// Owned by Workers. Bound to the event loop's thread. A spare is as hostile as
// any worker.
class SpareWorker {
 public:
  struct Worker {
    // Does not keep the incarnation, with which the worker ends.
    std::weak_ptr<Incarnation> incarnation;
    Incarnation::Worker process;
    sandbox::MemoryAllowance memory;
    ipc::UniqueFd socket;  // bulkheadd's end
  };
  using Kill = std::function<void(Incarnation&, Incarnation::Worker)>;

  // `kill` ends a spare.
  explicit SpareWorker(Kill kill) : kill_(std::move(kill)) {}
  KJ_DISALLOW_COPY(SpareWorker);

  // Has a spare cloned if there is none.
  void Prepare(const sandbox::MemoryAllowance& memory,
               std::shared_ptr<Incarnation> incarnation);
  // Returns the spare if it suits, and nothing otherwise. A spare that does not
  // suit is ended.
  std::optional<Worker> Take(const sandbox::MemoryAllowance& memory,
                             const std::shared_ptr<Incarnation>& incarnation);

 private:
  void End();
  // Ends the spare with this pid, as the zygote sees it, unless it is locked
  // down.
  void EndUnlocked(pid_t pid);

  const Kill kill_;
  std::optional<Worker> spare_;
  bool is_preparing_ = false;
  kj::Promise<void> preparing_ = kj::READY_NOW;
  // Ends the spare once its zygote has ended.
  kj::Promise<void> ending_ = kj::READY_NOW;
  uint32_t late_ones_ = 0;  // those that were ended since they were late
  kj::Promise<void> late_ = kj::READY_NOW;
};

}  // namespace bulkhead::backend
