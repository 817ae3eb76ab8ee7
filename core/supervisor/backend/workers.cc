// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/workers.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "core/base/application_limits.h"
#include "core/base/from_ipc.h"
#include "core/base/pidfd.h"
#include "core/supervisor/backend/task_shares.h"
#include "core/supervisor/sandbox/thread_status.h"
#include "ipc/message_socket.h"

namespace bulkhead::backend {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The time that a reaper has for a late report, on an overloaded machine.
constexpr milliseconds kLateReport{10'000};

// The time in which thousands of killed threads end.
constexpr milliseconds kEndOfTasks{5'000};

}  // namespace

kj::Promise<Result<Workers::Placed>> Workers::Serve(
    uint64_t id, Placing placing, const sandbox::MemoryAllowance& memory,
    std::shared_ptr<Incarnation> incarnation) {
  const bool alone = placing == Placing::kAlone;
  if (auto spare = alone ? spare_.Take(memory, incarnation) : std::nullopt) {
    auto worker = std::make_shared<Worker>();
    worker->incarnation = incarnation;
    worker->process = std::move(spare->process);
    PrepareSpare(memory, std::move(incarnation));
    return Adopt(id, std::move(worker), std::move(spare->socket), {});
  }
  auto sockets = ipc::MakeSocketPair();
  if (!sockets) {
    return Result<Placed>(NamingLimits(FromIpc(std::move(sockets).error())));
  }
  ++placing_;
  // A worker of its own is cloned with the session's socket. A shared worker
  // runs already, so Adopt() sends it the socket.
  ipc::UniqueFd socket_to_send;
  if (!alone) socket_to_send = std::move(sockets->second);
  auto placed = alone ? Clone(Incarnation::WorkerKind::kSession, memory,
                              incarnation, std::move(sockets->second))
                      : shared_.Ensure(incarnation);
  return placed.then(
      [this, id, alone, memory, incarnation = std::move(incarnation),
       socket = std::move(sockets->first),
       socket_to_send =
           std::move(socket_to_send)](auto worker) mutable -> Result<Placed> {
        --placing_;
        if (!worker) return std::move(worker).error();
        if (alone) PrepareSpare(memory, std::move(incarnation));
        return Adopt(id, *std::move(worker), std::move(socket), socket_to_send);
      });
}

Result<Workers::Placed> Workers::Adopt(uint64_t id,
                                       std::shared_ptr<Worker> worker,
                                       ipc::UniqueFd socket,
                                       const ipc::UniqueFd& socket_to_send) {
  if (worker->served == 0) worker->refused_tasks = task_limits_.Refusals();
  // The session is counted before the send: even if the send fails, the worker
  // may have got the socket.
  ++worker->served;
  ++worker->sessions_now;
  if (socket_to_send) {
    if (Status sent = SharedWorker::Send(*worker, socket_to_send); !sent.ok()) {
      Release(worker);
      return sent;
    }
  }
  const int pidfd = worker->process.pidfd.get();
  sessions_.emplace(id, std::move(worker));
  return Placed{.pidfd = pidfd, .socket = std::move(socket)};
}

Workers::Cloned Workers::Clone(Incarnation::WorkerKind kind,
                               const sandbox::MemoryAllowance& memory,
                               std::shared_ptr<Incarnation> incarnation,
                               ipc::UniqueFd socket) {
  using Made = Result<std::shared_ptr<Worker>>;
  auto cloning =
      incarnation->CloneWorker(kind, std::move(socket), deadline_, memory);
  return cloning.then(
      [incarnation = std::move(incarnation)](auto process) -> Made {
        if (!process) return std::move(process).error();
        auto worker = std::make_shared<Worker>();
        worker->incarnation = incarnation;
        worker->process = *std::move(process);
        return worker;
      });
}

void Workers::Release(const std::shared_ptr<Worker>& worker) {
  if (--worker->sessions_now > 0) return;
  Kill(*worker->incarnation, std::move(worker->process));
  shared_.Forget(worker);
}

void Workers::Kill(Incarnation& incarnation, Incarnation::Worker process) {
  // The reaper kills the worker, since only it knows whether the pid still
  // names that process.
  incarnation.KillWorker(process.pid);
  incarnation.ForgetWorker(process.pid);
  killed_.Add(backend_, std::move(process.pidfd));
}

kj::Promise<Workers::Tasks> Workers::MakeRoomForTasks() {
  uint64_t limit = 0;
  std::vector<std::shared_ptr<Worker>> workers;
  std::vector<uint64_t> tasks;
  for (const auto& [id, worker] : sessions_) {
    if (std::ranges::find(workers, worker) != workers.end()) continue;
    workers.push_back(worker);
    tasks.push_back(sandbox::CountThreads(worker->process.pidfd.get()));
    limit = std::max(limit, worker->incarnation->most_tasks());
  }
  const TaskShares shares(limit, std::thread::hardware_concurrency());
  if (!shares.AreUsedUp(tasks)) {
    // A worker that lacked tasks may report that a moment after others were
    // ended.
    const bool just_made =
        made_room_ && Clock::now() - *made_room_ < kEndOfTasks;
    return just_made ? Tasks::kFreed : Tasks::kEnough;
  }
  std::vector<kj::Promise<void>> ends;
  for (const size_t index : shares.ToEnd(tasks)) {
    const std::shared_ptr<Worker> worker = workers[index];
    worker->took_all_tasks = true;
    worker->incarnation->KillWorker(worker->process.pid);
    ends.push_back(
        worker->incarnation->AwaitEnd(worker->process.pid, kEndOfTasks)
            .ignoreResult()
            .attach(std::shared_ptr<Worker>(worker)));
  }
  if (ends.empty()) return Tasks::kUsedUp;
  auto all = kj::heapArrayBuilder<kj::Promise<void>>(ends.size());
  for (auto& end : ends) all.add(kj::mv(end));
  return kj::joinPromises(all.finish()).then([this] {
    made_room_ = Clock::now();
    return Tasks::kFreed;
  });
}

kj::Promise<bool> Workers::MakeRoomFor(uint64_t id) {
  return MakeRoomForTasks().then([this, id](Tasks tasks) {
    const auto found = sessions_.find(id);
    if (tasks != Tasks::kFreed || found == sessions_.end()) return false;
    Worker& worker = *found->second;
    // The end of this worker would end its other sessions too.
    if (worker.served > 1) return worker.took_all_tasks;
    worker.lacked_tasks = !worker.took_all_tasks;
    worker.incarnation->KillWorker(worker.process.pid);
    return true;
  });
}

Status Workers::Confirm(uint64_t id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) {
    return Status(Code::kBackendLost, "there is no such session");
  }
  const Worker& worker = *found->second;
  return worker.incarnation->ConfirmWorker(worker.process);
}

kj::Promise<blame::ProcessExit> Workers::AwaitEnd(uint64_t id,
                                                  milliseconds timeout) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) {
    return blame::ProcessExit{.kind = blame::ProcessExit::Kind::kUnknown};
  }
  const std::shared_ptr<Worker> worker = found->second;
  return worker->incarnation->AwaitEnd(worker->process.pid, timeout)
      .then(
          [worker](blame::ProcessExit exit) -> kj::Promise<blame::ProcessExit> {
            // The worker has ended, but its reaper has not reported that yet.
            return exit.kind == blame::ProcessExit::Kind::kRunning &&
                           HasEnded(worker->process.pidfd.get())
                       ? worker->incarnation->AwaitEnd(worker->process.pid,
                                                       kLateReport)
                       : kj::Promise<blame::ProcessExit>(exit);
          })
      .then([this, worker](blame::ProcessExit exit) {
        // All sessions that were ever served count: a closed one may be guilty.
        exit.shared = worker->served > 1;
        exit.told = std::exchange(worker->told, true);
        exit.took_all_tasks = worker->took_all_tasks;
        exit.lacked_tasks = worker->lacked_tasks ||
                            task_limits_.WereUsedUp(worker->refused_tasks);
        return exit;
      });
}

Incarnation* Workers::IncarnationOf(uint64_t id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second->incarnation.get();
}

records::LogTail* Workers::LogOf(uint64_t id) const {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return nullptr;
  const Worker& worker = *found->second;
  return worker.incarnation->LogOf(worker.process.pid);
}

void Workers::Close(uint64_t id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  const std::shared_ptr<Worker> worker = found->second;
  sessions_.erase(found);
  Release(worker);
}

pid_t Workers::pid(uint64_t id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? 0
                                  : PidOf(found->second->process.pidfd.get());
}

std::vector<pid_t> Workers::pids() const {
  std::vector<pid_t> pids;
  for (const auto& [id, worker] : sessions_) {
    // kill(0) is a signal to the caller's own processes.
    const pid_t pid = PidOf(worker->process.pidfd.get());
    if (pid > 0) pids.push_back(pid);
  }
  return pids;
}

}  // namespace bulkhead::backend
