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
#include "core/supervisor/backend/shared_worker.h"
#include "core/supervisor/backend/spare_worker.h"
#include "core/supervisor/records/killed_workers.h"
#include "core/supervisor/records/log_tail.h"
#include "core/supervisor/sandbox/memory_limit.h"
#include "core/supervisor/sandbox/task_limits.h"
#include "ipc/unique_fd.h"

namespace bulkhead::backend {

// Places the sessions of one backend in workers.
//
// By default each session has a worker of its own. A clone takes most of the
// time in which a session starts, so the worker for the next session is cloned
// beforehand (spare_worker.h).
//
// With worker_scope = "backend" in its manifest, a backend has one worker for
// many sessions (shared_worker.h).
//
// A worker is killed with its last session. If a worker dies that has served
// several sessions, nobody knows which input is guilty, since even a closed
// session may have left damage. The worker's ProcessExit is `shared`, and its
// sessions ask for workers of their own, where the guilty input kills only its
// own worker.
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
    int pidfd;  // the worker's; borrowed; valid until the session is closed
    ipc::UniqueFd socket;  // bulkheadd's end of the session's socket
  };

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
        shared_([this](std::shared_ptr<Incarnation> incarnation,
                       ipc::UniqueFd socket) {
          return Clone(Incarnation::WorkerKind::kShared, {},
                       std::move(incarnation), std::move(socket));
        }),
        spare_([this](Incarnation& own, Incarnation::Worker process) {
          Kill(own, std::move(process));
        }) {}
  KJ_DISALLOW_COPY(Workers);

  // Has a worker of `incarnation` serve session `id`. A worker that serves one
  // session may use `memory` in addition to the zygote's memory.
  kj::Promise<Result<Placed>> Serve(uint64_t id, Placing placing,
                                    const sandbox::MemoryAllowance& memory,
                                    std::shared_ptr<Incarnation> incarnation);
  bool Serves(uint64_t id) const { return sessions_.contains(id); }
  // Checks the lock-down of the session's worker. The host (the application's
  // library) asks for this before it gives the worker any media.
  Status Confirm(uint64_t id);
  // Resolves once the session's worker has ended, or with kRunning after
  // `timeout`; with kUnknown if there is no such session.
  kj::Promise<blame::ProcessExit> AwaitEnd(uint64_t id,
                                           std::chrono::milliseconds timeout);
  // Returns null if there is no such session.
  Incarnation* IncarnationOf(uint64_t id) const;
  // Returns what the session's worker wrote to a log of its own, or null.
  records::LogTail* LogOf(uint64_t id) const;
  // Ends the session, and its worker if that serves no other session.
  void Close(uint64_t id);
  enum class Tasks {
    kEnough,  // the workers have not used up their tasks
    kUsedUp,  // the tasks are used up, but no worker has more than its share
    kFreed,   // workers over their share were ended now or a moment ago
  };
  // Ends workers that have more than their share of the tasks, if the workers
  // together have used up theirs (TaskShares), and waits for their ends. The
  // ProcessExit of such a worker says so.
  kj::Promise<Tasks> MakeRoomForTasks();
  // Does the same for session `id`, whose worker says that something ran out.
  // If workers were ended, ends this worker too, unless it has served several
  // sessions and had no more than its share. Resolves with true if this worker
  // was ended, so that the session has to go on in another one.
  kj::Promise<bool> MakeRoomFor(uint64_t id);

  // Returns whether a session is open or being placed.
  bool busy() const { return placing_ > 0 || !sessions_.empty(); }
  // Returns the worker's pid of each session; a shared worker repeats.
  std::vector<pid_t> pids() const;
  // Returns the pid of the session's worker, or 0 if it has none.
  pid_t pid(uint64_t id) const;

 private:
  using Worker = ServingWorker;
  using Cloned = kj::Promise<Result<std::shared_ptr<Worker>>>;

  // Clones a worker that serves `socket`.
  Cloned Clone(Incarnation::WorkerKind kind,
               const sandbox::MemoryAllowance& memory,
               std::shared_ptr<Incarnation> incarnation, ipc::UniqueFd socket);
  // Has `worker` serve session `id`. A shared worker gets `socket_to_send`,
  // which is empty for others.
  Result<Placed> Adopt(uint64_t id, std::shared_ptr<Worker> worker,
                       ipc::UniqueFd socket,
                       const ipc::UniqueFd& socket_to_send);
  void PrepareSpare(const sandbox::MemoryAllowance& memory,
                    std::shared_ptr<Incarnation> incarnation) {
    if (keeps_spare_) spare_.Prepare(memory, std::move(incarnation));
  }
  void Kill(Incarnation& incarnation, Incarnation::Worker process);
  // Notes that a session of the worker has ended; kills it after the last one.
  void Release(const std::shared_ptr<Worker>& worker);

  const std::string backend_;
  const std::chrono::milliseconds deadline_;
  const bool keeps_spare_;
  records::KilledWorkers& killed_;
  const sandbox::TaskLimits& task_limits_;
  // The latest time at which workers with more than their share of the tasks
  // had ended; empty before the first such end.
  std::optional<std::chrono::steady_clock::time_point> made_room_;
  std::map<uint64_t, std::shared_ptr<Worker>> sessions_;
  uint32_t placing_ = 0;  // sessions that have no worker yet
  // The last members: their promises use the others.
  SharedWorker shared_;
  SpareWorker spare_;
};

}  // namespace bulkhead::backend
