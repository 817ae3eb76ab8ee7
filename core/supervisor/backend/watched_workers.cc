// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/watched_workers.h"

#include <utility>

namespace bulkhead::backend {

void WatchedWorkers::Add(pid_t pid, std::unique_ptr<records::LogTail> log) {
  Watched& worker = watched_[pid] = Watched();
  if (!log) return;
  worker.log = std::move(log);
  worker.drained = worker.log->Drain().eagerlyEvaluate(nullptr);
}

kj::Promise<blame::ProcessExit> WatchedWorkers::AwaitEnd(
    pid_t pid, std::chrono::milliseconds timeout) {
  const auto found = watched_.find(pid);
  if (found == watched_.end()) {
    return blame::ProcessExit{.kind = blame::ProcessExit::Kind::kUnknown};
  }
  if (found->second.end.kind != blame::ProcessExit::Kind::kRunning) {
    return found->second.end;
  }
  auto paf = kj::newPromiseAndFulfiller<blame::ProcessExit>();
  found->second.waiters.push_back(kj::mv(paf.fulfiller));
  return paf.promise.exclusiveJoin(
      timer_.afterDelay(timeout.count() * kj::MILLISECONDS).then([] {
        return blame::ProcessExit();
      }));
}

bool WatchedWorkers::Runs(pid_t pid) const {
  const auto found = watched_.find(pid);
  return found != watched_.end() &&
         found->second.end.kind == blame::ProcessExit::Kind::kRunning;
}

records::LogTail* WatchedWorkers::LogOf(pid_t pid) const {
  const auto found = watched_.find(pid);
  return found == watched_.end() ? nullptr : found->second.log.get();
}

void WatchedWorkers::Forget(pid_t pid) {
  if (Runs(pid)) forgotten_.insert(pid);
  watched_.erase(pid);
}

std::vector<pid_t> WatchedWorkers::pids() const {
  std::vector<pid_t> pids;
  for (const auto& [pid, worker] : watched_) pids.push_back(pid);
  return pids;
}

void WatchedWorkers::NoteEnd(pid_t pid, blame::ProcessExit exit) {
  Watched& worker = watched_.at(pid);
  worker.end = std::move(exit);
  worker.Resolve();
}

void WatchedWorkers::NoteEndOfReaper(
    const std::optional<blame::ProcessExit>& reaper) {
  for (auto& [pid, worker] : watched_) {
    if (worker.end.kind != blame::ProcessExit::Kind::kRunning) continue;
    // The kernel ended the worker by SIGKILL, together with its pid 1, so
    // nobody is to blame. If the reaper itself ended by a SIGKILL of others (an
    // operator, or a kernel without memory), the worker is said to have ended
    // by it, too.
    worker.end = {.kind = blame::ProcessExit::Kind::kUnknown};
    if (reaper && blame::IsForeignKill(*reaper)) worker.end = *reaper;
    worker.Resolve();
  }
}

void WatchedWorkers::Watched::Resolve() {
  for (auto& waiter : waiters) waiter->fulfill(blame::ProcessExit(end));
  waiters.clear();
}

}  // namespace bulkhead::backend
