// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/incarnation.h"
#include "ipc/unique_fd.h"

namespace bulkhead::backend {

// A worker that serves sessions, and what was noted about it.
struct ServingWorker {
  std::shared_ptr<Incarnation> incarnation;
  Incarnation::Worker process;
  ipc::UniqueFd requests;       // the socket to a shared worker
  uint32_t served = 0;          // sessions since it was cloned
  uint32_t sessions_now = 0;    // open sessions
  bool told = false;            // true once a session has learned how it ended
  bool took_all_tasks = false;  // true if ended for more than its share
  bool lacked_tasks = false;    // true if ended since others had all tasks
  uint64_t refused_tasks = 0;   // TaskLimits::Refusals() at its first session
};

// The worker that serves the sessions of a backend with worker_scope =
// "backend", up to kMaxSessions at a time. When it is full, has ended, or is of
// an earlier incarnation, another one is cloned for further sessions.
//
// bulkheadd sends each session's socket over a socket that it shares with the
// worker (descriptor passing). So the zygote never holds a session's socket.
//
// Owned by Workers. Bound to the event loop's thread. The worker is hostile: no
// function waits until it has taken a session.
class SharedWorker {
 public:
  using Outcome = Result<std::shared_ptr<ServingWorker>>;
  // Clones a shared worker, which gets its requests over the socket.
  using Clone = std::function<kj::Promise<Outcome>(std::shared_ptr<Incarnation>,
                                                   ipc::UniqueFd)>;
  static constexpr uint32_t kMaxSessions = 64;

  explicit SharedWorker(Clone clone) : clone_(std::move(clone)) {}
  KJ_DISALLOW_COPY(SharedWorker);

  // Resolves with a worker that has room for another session. Clones one if
  // there is none; callers at the same time share that clone.
  kj::Promise<Outcome> Ensure(std::shared_ptr<Incarnation> incarnation);
  // Gives `worker` the socket of a session to serve.
  static Status Send(const ServingWorker& worker, const ipc::UniqueFd& socket);
  // Gives no further sessions to `worker`.
  void Forget(const std::shared_ptr<ServingWorker>& worker) {
    if (worker_ == worker) worker_.reset();
  }

 private:
  // Clones a worker and makes it the one that gets further sessions.
  kj::Promise<Status> Replace(std::shared_ptr<Incarnation> incarnation);
  bool HasRoom(const std::shared_ptr<Incarnation>& incarnation) const;

  const Clone clone_;
  // The worker that gets further sessions; null if there is none.
  std::shared_ptr<ServingWorker> worker_;
  // The latest clone, and whether it is under way.
  kj::Maybe<kj::ForkedPromise<Status>> cloning_;
  bool is_cloning_ = false;
};

}  // namespace bulkhead::backend
