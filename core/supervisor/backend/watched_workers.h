// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>
#include <kj/timer.h>
#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/supervisor/blame/process_exit.h"
#include "core/supervisor/records/log_tail.h"

namespace bulkhead::backend {

// Keeps the workers of one incarnation that its reaper has confirmed: their
// logs, and how they ended. Workers are named by their pids in the reaper's
// namespace. The kernel uses no pid again before the reaper has reported the
// end of its process.
//
// Owned by Incarnation. Bound to the event loop's thread.
class WatchedWorkers {
 public:
  explicit WatchedWorkers(kj::Timer& timer) : timer_(timer) {}
  KJ_DISALLOW_COPY(WatchedWorkers);

  // Begins to watch a worker and to read `log`, its own stderr. `log` is null
  // if the worker writes to the stderr of the zygote.
  void Add(pid_t pid, std::unique_ptr<records::LogTail> log);
  // Resolves once the worker has ended, or with kRunning after `timeout`. Any
  // number of callers may wait for one worker.
  kj::Promise<blame::ProcessExit> AwaitEnd(pid_t pid,
                                           std::chrono::milliseconds timeout);
  // Returns whether the worker runs, according to the reports of the reaper.
  bool Runs(pid_t pid) const;
  // Returns null if the worker has no log of its own or is forgotten.
  records::LogTail* LogOf(pid_t pid) const;
  // Forgets a worker about which nobody will ask again.
  void Forget(pid_t pid);
  // Notes a process that runs and that nobody will ask about.
  void ExpectEnd(pid_t pid) { forgotten_.insert(pid); }

  bool Watches(pid_t pid) const { return watched_.contains(pid); }
  // Returns whether the process is a worker that is watched, or one that was
  // forgotten and still runs.
  bool Knows(pid_t pid) const {
    return watched_.contains(pid) || forgotten_.contains(pid);
  }
  std::vector<pid_t> pids() const;

  // Notes the end of a worker that was forgotten.
  void NoteForgottenEnd(pid_t pid) { forgotten_.erase(pid); }
  // Notes the end of a worker that is watched.
  void NoteEnd(pid_t pid, blame::ProcessExit exit);
  // Notes that all workers that run ended together with their reaper.
  void NoteEndOfReaper(const std::optional<blame::ProcessExit>& reaper);

 private:
  struct Watched {
    blame::ProcessExit end;
    std::vector<kj::Own<kj::PromiseFulfiller<blame::ProcessExit>>> waiters;
    // Reads the worker's own stderr; null if the worker shares the zygote's.
    std::unique_ptr<records::LogTail> log;
    kj::Promise<void> drained = kj::READY_NOW;

    void Resolve();
  };

  kj::Timer& timer_;
  std::map<pid_t, Watched> watched_;
  // Workers that were forgotten before their end was reported.
  std::set<pid_t> forgotten_;
};

}  // namespace bulkhead::backend
