// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>
#include <kj/timer.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/clones.h"
#include "core/supervisor/backend/ending_reapers.h"
#include "core/supervisor/backend/reaper_link.h"
#include "core/supervisor/backend/watched_workers.h"
#include "core/supervisor/backend/zygote_link.h"
#include "core/supervisor/blame/process_exit.h"
#include "core/supervisor/records/log_tail.h"
#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/expected_calls.h"
#include "core/supervisor/sandbox/launcher.h"
#include "core/supervisor/sandbox/memory_limit.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::backend {

// One life of a backend: its reaper, its zygote and the workers cloned from the
// zygote.
//
// The reaper is trusted (reaper_link.h), the zygote is not (zygote_link.h).
// Together they make the workers that are asked for (clones.h). A zygote that
// makes a forbidden system call is killed, and it may clone only the workers
// that it was asked for (ExpectedCalls). This class ends strangers: processes
// of the backend that the zygote has not named as workers. It checks each
// worker before the worker gets media.
//
// Once a worker has media, the zygote is stopped (SIGSTOP), and continued only
// while somebody waits for a clone. Its threads and timers are the vendor's and
// are in stage 1 only: they could watch what the worker does, such as how many
// threads it has, and pass that on by opening files that another user watches.
//
// Workers outlive their zygote: an incarnation whose zygote died takes no new
// sessions and lasts as long as its last session.
//
// Shared by Incarnations and the sessions whose workers were cloned from its
// zygote. Bound to the event loop's thread. The destructor has the reaper end
// all processes of the incarnation, then itself. EndingReapers waits for that;
// the destructor does not.
class Incarnation final : private ReaperLink::Listener,
                          private ZygoteLink::Listener,
                          private Clones::Owner,
                          private kj::TaskSet::ErrorHandler {
 public:
  using Worker = Clones::Worker;
  using WorkerKind = Clones::Kind;
  static constexpr auto kNoTimeout = Clones::kNoTimeout;

  // `forbidden`: the reaction to forbidden calls with which the lock-down was
  // compiled. `expected`: decides on the system calls that the kernel holds
  // until bulkheadd answers. `loading`: bounds what the zygote may have mapped.
  // `met_media`: shared by all incarnations of one distribution. It is set once
  // one of them has media, since later logs of all may contain media. All
  // references must outlive this object.
  Incarnation(kj::UnixEventPort& port, sandbox::LaunchedReaper launched,
              sandbox::Forbidden forbidden, sandbox::ExpectedCalls expected,
              const sandbox::LoadedMemory& loading, EndingReapers& ending,
              bool& met_media);
  ~Incarnation() noexcept(false);
  KJ_DISALLOW_COPY(Incarnation);

  // Resolves once the vendor's object is loaded; fails with the reason why it
  // is not.
  kj::Promise<Status> AwaitReady(std::chrono::milliseconds timeout) {
    return zygote_.AwaitReady(timeout);
  }
  // Clones a worker that will serve `socket`. The worker may use `memory` in
  // addition to the memory of the zygote. Fails with one of these codes:
  // - kBackendLost: the zygote died, or there was no worker after `timeout`. In
  //   the second case, the process that owes the answer (zygote or reaper) is
  //   ended.
  // - kBackendUnavailable: the zygote says that it cannot clone.
  // - kResourceExhausted: the zygote says that it lacks resources, or other
  //   programs of the user had too many descriptors in flight until `timeout`.
  //   The zygote is not to blame and lives on.
  kj::Promise<Result<Worker>> CloneWorker(
      WorkerKind kind, ipc::UniqueFd socket, std::chrono::milliseconds timeout,
      const sandbox::MemoryAllowance& memory = {}) {
    return clones_.Clone(kind, std::move(socket), timeout, memory);
  }
  // Resolves after the time that a spare worker has to be locked down.
  kj::Promise<void> AfterTimeForSpare() {
    return timer_.afterDelay(Clones::kTimeForSpare);
  }
  // Resolves once the worker has ended, or with kRunning after `timeout`. Any
  // number of callers may wait for one worker.
  kj::Promise<blame::ProcessExit> AwaitEnd(pid_t pid,
                                           std::chrono::milliseconds timeout) {
    return workers_.AwaitEnd(pid, timeout);
  }
  // Checks that every thread of the worker is locked down in stage 2 and that
  // its memory is limited. Ends the worker if its lock-down is incomplete.
  // Where filters have no listener (Forbidden::kKill), ends strangers too.
  // After a success the worker is about to get media: all later output of the
  // incarnation may contain it.
  Status ConfirmWorker(const Worker& worker);
  // Returns whether the worker runs, according to the reports of the reaper.
  bool WorkerRuns(pid_t pid) const { return workers_.Runs(pid); }
  void KillWorker(pid_t pid) { reaper_->Kill(pid); }
  // Ends the zygote. Sessions go on without the zygote. Operators get `reason`;
  // callers that wait for a clone get `code`.
  void KillZygote(Code code, std::string reason) {
    zygote_.Kill(code, std::move(reason));
  }
  // Forgets a worker that was killed and about which nobody will ask again.
  void ForgetWorker(pid_t pid) { workers_.Forget(pid); }

  // Returns whether device nodes were granted, so that there is a device to
  // lose.
  bool has_devices() const { return loading_.maps_devices; }
  bool zygote_alive() const { return zygote_.alive(); }
  // Resolves once the zygote has ended and the way it ended is known.
  kj::Promise<void> WhenZygoteGone() { return zygote_.WhenGone(); }
  // Returns whether the zygote ended through nobody's fault: by a SIGKILL that
  // bulkheadd did not send, or together with its reaper.
  bool zygote_lost() const { return zygote_.lost(); }
  // Returns whether the zygote itself said why it cannot be used.
  bool declined() const { return zygote_.declined(); }
  // Returns true if only Bulkhead's own code has run in the zygote. The zygote
  // hands over the listener of its filter (zygote_link.h) before it loads the
  // vendor's object, so a missing listener proves that. Returns false where
  // filters have no listener, since nobody knows.
  bool before_loading() const { return zygote_.lacks_listener(); }
  // Returns whether the log says that resources, such as memory, ran out before
  // the zygote began to load the object.
  bool RanOutBeforeLoading();
  bool reaper_alive() const { return reaper_->alive(); }
  pid_t reaper_pid() const { return reaper_->pid(); }
  pid_t zygote_pid() const { return zygote_.pid(); }
  // Returns the last lines that the zygote wrote to its stderr. Workers write
  // to the same log until they get a log of their own, before they get media.
  // Where filters have no listener, they write to it all the time.
  records::LogTail& log() { return log_; }
  // Returns the last lines that a worker wrote to a stderr of its own, and null
  // if it has none or is forgotten.
  records::LogTail* LogOf(pid_t worker) { return workers_.LogOf(worker); }
  // Returns a description of how the zygote ended; empty while the zygote
  // lives.
  const std::string& zygote_end() const { return zygote_.end(); }
  // Returns how the zygote ended, as the reaper reported it, with the zygote's
  // own claim about a crash.
  ExitReport zygote_report() const { return zygote_.report(); }
  // The number of this incarnation: 1 for the first of its backend. 0 while it
  // starts.
  uint32_t life() const { return life_; }
  void set_life(uint32_t life) { life_ = life; }
  // The most tasks that all processes of the incarnation may have together
  // (sandbox::Limits).
  uint64_t most_tasks() const { return most_tasks_; }
  void set_most_tasks(uint64_t tasks) { most_tasks_ = tasks; }

 private:
  void taskFailed(kj::Exception&& exception) override;

  void OnStarted(pid_t zygote, ipc::UniqueFd pidfd) override;
  void OnWatched(pid_t pid, ipc::UniqueFd pidfd) override;
  void OnRefused(pid_t pid) override;
  void OnStarved(pid_t pid) override;
  void OnExited(pid_t pid, int wait_status) override;
  void OnReaperGone() override;

  Status OnCloned(ipc::schema::Cloned::Reader cloned_untrusted) override;
  Status OnCloneFailed(
      ipc::schema::CloneFailed::Reader failed_untrusted) override;
  void OnZygoteGone(const Status& lost) override;

  void OnCloneAsked() override;
  void OnCloneAnswered() override;
  // Ends strangers (children of the reaper that are neither the zygote nor
  // workers that it named), unless they can be clones under way. If there are
  // more strangers than clones, ends the zygote, which alone can make them.
  void EndStrangers() override;

  // Stops the zygote once nobody waits for a clone, if a worker has had media.
  void StopIdleZygote();

  kj::Timer& timer_;
  const sandbox::Forbidden forbidden_;
  sandbox::ExpectedCalls expected_calls_;
  const sandbox::LoadedMemory loading_;
  bool& met_media_;
  // Destroyed first: its tasks use the others.
  std::unique_ptr<kj::TaskSet> tasks_;
  std::unique_ptr<ReaperLink> reaper_;  // destroyed next
  ZygoteLink zygote_;
  records::LogTail log_;
  WatchedWorkers workers_;
  Clones clones_;
  uint32_t life_ = 0;
  uint64_t most_tasks_ = 0;
  bool had_media_ = false;  // true once a worker of this incarnation had media
  // Stops the zygote at the time at which nobody waits for it any more.
  kj::Promise<void> stopping_ = kj::READY_NOW;
};

}  // namespace bulkhead::backend
