// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/backend/killed_workers.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// Which worker serves which session of a backend.
//
// By default each session has a worker of its own, and the socket with which it
// is cloned is the session's. A backend with worker_scope = "backend" has one
// worker for all, until that has as many as it may and the next is cloned: its
// socket is to us, and each session's socket is sent over it, so that the
// zygote sees none of them. It takes no session of a later incarnation.
//
// A worker is killed with its last session. When one dies that has served
// several, nobody can tell whose input did it, also not whether a session that
// was closed before has left the damage: its end says so, and its sessions ask
// again for workers of their own, in which the guilty one shows itself.
//
// Owned by Backend. Bound to the event loop's thread. Workers are hostile, and
// nothing here waits for one: one that does not take its sessions is found out
// by their hosts' deadlines.
class Workers {
 public:
  enum class Placing {
    kAlone,   // in a worker that serves nobody else
    kShared,  // with others
  };
  static constexpr uint32_t kMaxSessionsPerWorker = 64;

  // `backend`: its name. `killed` is borrowed.
  Workers(std::string backend, std::chrono::milliseconds deadline,
          KilledWorkers& killed)
      : backend_(std::move(backend)), deadline_(deadline), killed_(killed) {}
  KJ_DISALLOW_COPY(Workers);

  // Has session `id` served on `socket` by a worker of `incarnation`. Gives the
  // worker's pidfd, borrowed until the session is closed. A worker that serves
  // nobody else may take `worker_bytes` of private memory beyond the zygote's.
  kj::Promise<Result<int>> Serve(uint64_t id, Placing placing,
                                 uint64_t worker_bytes,
                                 std::shared_ptr<Incarnation> incarnation,
                                 ipc::UniqueFd socket);
  bool Serves(uint64_t id) const { return sessions_.contains(id); }
  // Before its session gives it media.
  Status Confirm(uint64_t id);
  kj::Promise<ProcessExit> AwaitEnd(uint64_t id,
                                    std::chrono::milliseconds timeout);
  // Null: there is no such session.
  Incarnation* IncarnationOf(uint64_t id) const;
  void Close(uint64_t id);

  // False: there is no session, and none is being placed.
  bool busy() const { return placing_ > 0 || !sessions_.empty(); }
  // One a session.
  std::vector<pid_t> pids() const;
  // 0: it has no worker.
  pid_t pid(uint64_t id) const;

 private:
  struct Worker {
    std::shared_ptr<Incarnation> incarnation;
    Incarnation::Worker process;
    ipc::UniqueFd requests;     // of a shared worker; else none
    uint32_t served = 0;        // sessions, ever
    uint32_t sessions_now = 0;  // of those, the open ones
    bool told = false;          // how it ended
  };
  using Placed = kj::Promise<Result<std::shared_ptr<Worker>>>;

  Placed Clone(Incarnation::WorkerKind kind, uint64_t worker_bytes,
               std::shared_ptr<Incarnation> incarnation, ipc::UniqueFd socket);
  // The shared worker with room for one more, cloned if there is none.
  Placed EnsureShared(std::shared_ptr<Incarnation> incarnation);
  kj::Promise<Status> CloneShared(std::shared_ptr<Incarnation> incarnation);
  bool HasRoom(const std::shared_ptr<Incarnation>& incarnation) const;
  Result<int> Adopt(uint64_t id, std::shared_ptr<Worker> worker,
                    const ipc::UniqueFd& socket_to_send);
  void Release(const std::shared_ptr<Worker>& worker);

  const std::string backend_;
  const std::chrono::milliseconds deadline_;
  KilledWorkers& killed_;
  std::map<uint64_t, std::shared_ptr<Worker>> sessions_;
  uint32_t placing_ = 0;
  std::shared_ptr<Worker> shared_;  // takes further sessions; null: none does
  kj::Maybe<kj::ForkedPromise<Status>> sharing_;
  bool is_sharing_ = false;
};

}  // namespace bulkhead::supervisor
