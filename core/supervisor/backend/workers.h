// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/backend/spare_worker.h"
#include "core/supervisor/records/killed_workers.h"
#include "core/supervisor/records/log_tail.h"
#include "core/supervisor/sandbox/memory_limit.h"
#include "core/supervisor/sandbox/task_limits.h"
#include "ipc/unique_fd.h"

namespace bulkhead::backend {

// Places the sessions of one backend in workers.
//
// By default each session has a worker of its own. Cloning one is most of the
// time that a session takes to start, so the next one is there already
// (spare_worker.h).
//
// A backend with worker_scope = "backend" has one worker for
// up to kMaxSessionsPerWorker sessions; when that worker is full, another is
// cloned. The socket of a shared worker leads to bulkheadd, and each session's
// socket is sent over it, so that the zygote never holds a session's socket. A
// shared worker takes no session of a later incarnation.
//
// A worker is killed with its last session. When a worker dies that has served
// several sessions, nobody can say which input is guilty; a session closed
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
  enum class Spare {
    kNone,
    kOne,  // for the next session of the same incarnation
  };
  struct Placed {
    int pidfd;             // valid until the session is closed; borrowed
    ipc::UniqueFd socket;  // bulkheadd's end of the session's socket
  };
  static constexpr uint32_t kMaxSessionsPerWorker = 64;

  // `backend` is the backend's name. A clone takes at most `deadline`. `killed`
  // and `task_limits` must outlive this object.
  Workers(std::string backend, std::chrono::milliseconds deadline, Spare spare,
          records::KilledWorkers& killed,
          const sandbox::TaskLimits& task_limits)
      : backend_(std::move(backend)),
        deadline_(deadline),
        keeps_spare_(spare == Spare::kOne),
        killed_(killed),
        task_limits_(task_limits),
        spare_([this](Incarnation& own, Incarnation::Worker process) {
          Kill(own, std::move(process));
        }) {}
  KJ_DISALLOW_COPY(Workers);

  // Has a worker of `incarnation` serve session `id`. A worker that serves one
  // session may use `memory` beyond the zygote's.
  kj::Promise<Result<Placed>> Serve(uint64_t id, Placing placing,
                                    const sandbox::MemoryAllowance& memory,
                                    std::shared_ptr<Incarnation> incarnation);
  bool Serves(uint64_t id) const { return sessions_.contains(id); }
  // Checks the lock-down of the session's worker. Hosts ask for it before they
  // give the worker any media.
  Status Confirm(uint64_t id);
  // Resolves once the session's worker has ended, or with kRunning after
  // `timeout`; with kUnknown if there is no such session.
  kj::Promise<blame::ProcessExit> AwaitEnd(uint64_t id,
                                           std::chrono::milliseconds timeout);
  // Returns null if there is no such session.
  Incarnation* IncarnationOf(uint64_t id) const;
  // Returns what the session's worker wrote to a log of its own, or null.
  records::LogTail* LogOf(uint64_t id) const;
  void Close(uint64_t id);
  enum class Tasks { kEnough, kUsedUp, kFreed };
  // Looks whether the workers together have all tasks that they may have
  // (TaskShares). If so, those that have more than their share are ended, and
  // kFreed means that this has made room, or did a moment ago. Their
  // ProcessExit says so.
  kj::Promise<Tasks> MakeRoomForTasks();
  // Looks the same for a session whose worker says that something ran out. If
  // there is room again, ends the worker, which is not to blame, and returns
  // true; the session goes on in another. A worker of several sessions ends
  // only if they hold the tasks themselves: then each gets a worker of its own.
  kj::Promise<bool> MakeRoomFor(uint64_t id);

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
    ipc::UniqueFd requests;       // the socket to a shared worker
    uint32_t served = 0;          // sessions since it was cloned
    uint32_t sessions_now = 0;    // open sessions
    bool told = false;            // true once a session heard how it ended
    bool took_all_tasks = false;  // true if it was ended for that
    bool lacked_tasks = false;    // true if others had taken them
    uint64_t refused_tasks = 0;   // TaskLimits::Refusals() when it began
  };
  using Cloned = kj::Promise<Result<std::shared_ptr<Worker>>>;

  Cloned Clone(Incarnation::WorkerKind kind,
               const sandbox::MemoryAllowance& memory,
               std::shared_ptr<Incarnation> incarnation, ipc::UniqueFd socket);
  // Resolves with a shared worker that has room for another session. Clones one
  // if there is none; callers at the same time share that clone.
  Cloned EnsureShared(std::shared_ptr<Incarnation> incarnation);
  kj::Promise<Status> CloneShared(std::shared_ptr<Incarnation> incarnation);
  bool HasRoom(const std::shared_ptr<Incarnation>& incarnation) const;
  Result<Placed> Adopt(uint64_t id, std::shared_ptr<Worker> worker,
                       ipc::UniqueFd socket,
                       const ipc::UniqueFd& socket_to_send);
  void PrepareSpare(const sandbox::MemoryAllowance& memory,
                    std::shared_ptr<Incarnation> incarnation) {
    if (keeps_spare_) spare_.Prepare(memory, std::move(incarnation));
  }
  void Kill(Incarnation& incarnation, Incarnation::Worker process);
  void Release(const std::shared_ptr<Worker>& worker);

  const std::string backend_;
  const std::chrono::milliseconds deadline_;
  const bool keeps_spare_;
  records::KilledWorkers& killed_;
  const sandbox::TaskLimits& task_limits_;
  // When workers that had more than their share of the tasks had ended.
  std::optional<std::chrono::steady_clock::time_point> made_room_;
  std::map<uint64_t, std::shared_ptr<Worker>> sessions_;
  uint32_t placing_ = 0;
  // The shared worker that takes further sessions; null if there is none.
  std::shared_ptr<Worker> shared_;
  kj::Maybe<kj::ForkedPromise<Status>> sharing_;
  bool is_sharing_ = false;
  // The last member: its promises use the others.
  SpareWorker spare_;
};

}  // namespace bulkhead::backend
