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
#include "core/supervisor/backend/log_tail.h"
#include "core/supervisor/sandbox/memory_limit.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// Places the sessions of one backend in workers.
//
// By default each session has a worker of its own, which is cloned with the
// session's socket. A backend with worker_scope = "backend" has one worker for
// up to kMaxSessionsPerWorker sessions; when that worker is full, another is
// cloned. The socket of a shared worker leads to bulkheadd, and each session's
// socket is sent over it, so that the zygote never holds a session's socket. A
// shared worker takes no session of a later incarnation.
//
// A worker is killed with its last session. When a worker dies that has served
// several sessions, nobody can tell which input is guilty; a session closed
// before may have left the damage. The worker's ProcessExit is `shared`, and
// its sessions ask for workers of their own. There, the guilty input kills only
// its own worker.
//
// Owned by Backend. Bound to the event loop's thread. Workers are hostile, and
// nothing here waits for them: a worker that does not take its sessions misses
// the deadlines of the hosts.
class Workers {
 public:
  enum class Placing {
    kAlone,   // in a worker that serves one session
    kShared,  // in a worker that serves many
  };
  static constexpr uint32_t kMaxSessionsPerWorker = 64;

  // `backend` is the backend's name. A clone takes at most `deadline`. `killed`
  // must outlive this object.
  Workers(std::string backend, std::chrono::milliseconds deadline,
          KilledWorkers& killed)
      : backend_(std::move(backend)), deadline_(deadline), killed_(killed) {}
  KJ_DISALLOW_COPY(Workers);

  // Has a worker of `incarnation` serve session `id` on `socket`. Resolves with
  // the worker's pidfd, which is valid until the session is closed and must not
  // be closed by the caller. A worker that serves one session may use `memory`
  // beyond the zygote's.
  kj::Promise<Result<int>> Serve(uint64_t id, Placing placing,
                                 const sandbox::MemoryAllowance& memory,
                                 std::shared_ptr<Incarnation> incarnation,
                                 ipc::UniqueFd socket);
  bool Serves(uint64_t id) const { return sessions_.contains(id); }
  // Checks the lock-down of the session's worker. Hosts ask for it before they
  // give the worker any media.
  Status Confirm(uint64_t id);
  // Resolves once the session's worker has ended, or with kRunning after
  // `timeout`; with kUnknown if there is no such session.
  kj::Promise<ProcessExit> AwaitEnd(uint64_t id,
                                    std::chrono::milliseconds timeout);
  // Returns null if there is no such session.
  Incarnation* IncarnationOf(uint64_t id) const;
  // Returns what the session's worker wrote to a log of its own, or null.
  LogTail* LogOf(uint64_t id) const;
  void Close(uint64_t id);

  // Returns whether a session is open or being placed.
  bool busy() const { return placing_ > 0 || !sessions_.empty(); }
  // Returns the worker's pid of each session; a shared worker repeats.
  std::vector<pid_t> pids() const;
  // Returns the pid of the session's worker, or 0 if it has none.
  pid_t pid(uint64_t id) const;

 private:
  struct Worker {
    std::shared_ptr<Incarnation> incarnation;
    Incarnation::Worker process;
    ipc::UniqueFd requests;     // the socket to a shared worker
    uint32_t served = 0;        // sessions since it was cloned
    uint32_t sessions_now = 0;  // open sessions
    bool told = false;          // true once a session was told how it ended
  };
  using Placed = kj::Promise<Result<std::shared_ptr<Worker>>>;

  Placed Clone(Incarnation::WorkerKind kind,
               const sandbox::MemoryAllowance& memory,
               std::shared_ptr<Incarnation> incarnation, ipc::UniqueFd socket);
  // Resolves with a shared worker that has room for another session. Clones one
  // if there is none; callers at the same time share that clone.
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
  // The shared worker that takes further sessions; null if there is none.
  std::shared_ptr<Worker> shared_;
  kj::Maybe<kj::ForkedPromise<Status>> sharing_;
  bool is_sharing_ = false;
};

}  // namespace bulkhead::supervisor
