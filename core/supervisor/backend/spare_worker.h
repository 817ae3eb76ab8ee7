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

// Keeps a worker ready for the next session of one backend: the spare. A spare
// is cloned once a session has got its worker, locks itself down, and waits for
// the first message on its socket. It has nothing of any session. A session
// with another allowance of memory, or of a later incarnation, does not take
// it. If the spare ends before a session has taken it, nobody is blamed. The
// next session then has a worker cloned, and gets the reason if that clone
// fails.
//
// Owned by Workers. Bound to the event loop's thread. A spare is as hostile as
// any worker.
class SpareWorker {
 public:
  struct Worker {
    // Weak: a spare keeps no incarnation alive, and ends with its own.
    std::weak_ptr<Incarnation> incarnation;
    Incarnation::Worker process;
    sandbox::MemoryAllowance memory;
    ipc::UniqueFd socket;  // bulkheadd's end
  };
  using Kill = std::function<void(Incarnation&, Incarnation::Worker)>;

  // `kill` is called to end a spare.
  explicit SpareWorker(Kill kill) : kill_(std::move(kill)) {}
  KJ_DISALLOW_COPY(SpareWorker);

  // Has a spare cloned. Does nothing if a spare exists or is being cloned, or
  // after three spares were late with their lock-down.
  void Prepare(const sandbox::MemoryAllowance& memory,
               std::shared_ptr<Incarnation> incarnation);
  // Returns the spare if it runs, is a clone of `incarnation` and has the same
  // `memory`. Ends any other spare, and returns nothing.
  std::optional<Worker> Take(const sandbox::MemoryAllowance& memory,
                             const std::shared_ptr<Incarnation>& incarnation);

 private:
  void End();
  // Ends the spare if it has this pid (in the reaper's namespace) and is not
  // locked down.
  void EndUnlocked(pid_t pid);

  const Kill kill_;
  std::optional<Worker> spare_;
  bool is_preparing_ = false;
  kj::Promise<void> preparing_ = kj::READY_NOW;
  // Ends the spare once its zygote has ended.
  kj::Promise<void> ending_ = kj::READY_NOW;
  uint32_t late_ones_ = 0;  // spares that were late with their lock-down
  // Ends a spare that is late.
  kj::Promise<void> late_ = kj::READY_NOW;
};

}  // namespace bulkhead::backend
