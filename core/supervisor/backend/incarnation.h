// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>
#include <kj/timer.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/control/crash_note.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/violation_watch.h"
#include "core/supervisor/blame/process_exit.h"
#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/cgroup.h"
#include "core/supervisor/sandbox/launcher.h"
#include "core/supervisor/sockets/event_socket.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// One life of a backend: its reaper, its zygote and the workers cloned from it.
//
// The reaper is ours and believed. The zygote has run vendor code by the time
// it says ready: that its threads are locked down is checked then, the pids
// that it names are checked by the reaper, a message out of turn ends it, and
// nothing here waits for it without a deadline. Whoever of the backend makes a
// forbidden system call is ended from here. Workers outlive their zygote: an
// incarnation whose zygote died takes no new sessions and lasts as long as its
// last one.
//
// Owned by Backend. Bound to the event loop's thread. Destroying it ends the
// reaper and with it every process of the incarnation.
class Incarnation : private kj::TaskSet::ErrorHandler {
 public:
  struct Worker {
    pid_t pid;                // in the reaper's namespace
    ipc::UniqueFd pidfd;      // opened by the reaper
    uint64_t data_bytes = 0;  // that its private memory is limited to; 0: none
  };
  // What the worker is told to be by the zygote; what its socket is for.
  enum class WorkerKind {
    kSession,  // one session's
    kShared,   // a SharedWorkerRequest for each of many sessions
    kProbe,    // one DeviceList
  };

  // `forbidden` is what its lock-down was compiled with.
  Incarnation(kj::UnixEventPort& port, sandbox::LaunchedReaper launched,
              sandbox::Forbidden forbidden);
  ~Incarnation() noexcept(false);
  KJ_DISALLOW_COPY(Incarnation);

  // Resolves once the vendor's object is loaded, or with why it is not.
  kj::Promise<Status> AwaitReady(std::chrono::milliseconds timeout);
  // Clones a worker that will serve `socket`. kBackendLost when the zygote
  // died, kBackendUnavailable when it cannot clone. It may take `worker_bytes`
  // of private memory beyond what the zygote has; 0: it is not limited.
  kj::Promise<Result<Worker>> CloneWorker(WorkerKind kind, ipc::UniqueFd socket,
                                          std::chrono::milliseconds timeout,
                                          uint64_t worker_bytes = 0);
  // Resolves once the worker ended, or says kRunning after `timeout`. Any
  // number may wait for one worker.
  kj::Promise<ProcessExit> AwaitEnd(pid_t pid,
                                    std::chrono::milliseconds timeout);
  // Whether every thread of it is under stage 2, and its memory limited; ends
  // it where not.
  Status ConfirmWorker(const Worker& worker);
  // False once its end was reported.
  bool WorkerRuns(pid_t pid) const;
  void KillWorker(pid_t pid);
  // Ends the zygote for what it did; sessions go on without it.
  void KillZygote(Code code, std::string reason);
  // Nobody will ask about it any more.
  void ForgetWorker(pid_t pid);

  bool zygote_alive() const { return zygote_alive_; }
  // Resolves once the zygote has ended and it is known how.
  kj::Promise<void> WhenZygoteGone() { return zygote_gone_.addBranch(); }
  // It ended through nobody's fault: by a SIGKILL that we did not send, or with
  // its reaper.
  bool zygote_lost() const { return zygote_lost_; }
  // It said itself why it cannot be used.
  bool declined() const { return declined_; }
  bool reaper_alive() const { return reaper_alive_; }
  pid_t reaper_pid() const { return launched_pid_; }
  pid_t zygote_pid() const;
  // The last lines that the backend wrote to its stderr, cleaned; the first may
  // be cut off.
  const std::string& log_tail() const { return log_tail_; }
  // Takes in what was written meanwhile; false: nothing.
  bool ReadLog();
  // How the zygote ended, in words; empty while it lives.
  const std::string& zygote_end() const { return zygote_end_; }
  // The same as far as its reaper could tell, with its own claim.
  ExitReport zygote_report() const;
  // Which life of its backend it is, from 1; 0 while it starts.
  uint32_t life() const { return life_; }
  void set_life(uint32_t life) { life_ = life; }

 private:
  struct Pending {
    kj::Own<kj::PromiseFulfiller<Result<Worker>>> fulfiller;
    std::optional<pid_t> pid;  // once the zygote has named it
    uint64_t data_bytes = 0;
  };
  struct Watched {
    ProcessExit end;
    std::vector<kj::Own<kj::PromiseFulfiller<ProcessExit>>> waiters;

    void Resolve();
  };

  void taskFailed(kj::Exception&& exception) override;
  kj::Promise<void> ServeReaper();
  kj::Promise<void> ServeZygote();
  kj::Promise<void> DrainLog();
  kj::Promise<void> ReapReaper();
  // The zygote's first message brings it, and no other brings anything.
  bool lacks_listener() const {
    return forbidden_ == sandbox::Forbidden::kNotify && !violations_;
  }
  Status OnLocked(ipc::ReceivedMessage& message);
  // Once the zygote has said ready and the reaper who it is.
  void CheckReady();
  void ResolveReadiness(Status status);
  Status OnReaperEvent(ipc::ReceivedMessage& message);
  Status OnZygoteEvent(ipc::ReceivedMessage& message);
  void OnExited(pid_t pid, int wait_status);
  void OnZygoteGone(Code code = Code::kBackendLost);
  void OnReaperGone();
  void KillReaper();
  void FailPending(const Status& status);
  Pending* PendingOf(pid_t pid);

  kj::UnixEventPort& port_;
  kj::Timer& timer_;
  const pid_t launched_pid_;
  const ipc::UniqueFd reaper_pidfd_;
  kj::UnixEventPort::FdObserver reaper_observer_;
  std::unique_ptr<EventSocket> reaper_;  // null while this is destroyed
  const std::unique_ptr<EventSocket> zygote_;
  const std::unique_ptr<sandbox::Cgroup> cgroup_;  // null: it has none
  const ipc::UniqueFd log_;
  kj::UnixEventPort::FdObserver log_observer_;
  std::string log_tail_;
  bool log_ended_ = false;

  const sandbox::Forbidden forbidden_;
  std::unique_ptr<ViolationWatch> violations_;  // null: none can be named

  pid_t zygote_inner_pid_ = 0;
  ipc::UniqueFd zygote_pidfd_;
  bool zygote_alive_ = true;
  bool zygote_lost_ = false;
  bool declined_ = false;
  kj::PromiseFulfillerPair<void> gone_ = kj::newPromiseAndFulfiller<void>();
  kj::ForkedPromise<void> zygote_gone_ = gone_.promise.fork();
  bool zygote_heard_out_ = false;  // its socket is closed and read to the end
  bool reaper_alive_ = true;
  std::optional<CrashClaim> zygote_claim_;
  std::optional<ExitReport> zygote_exit_;
  std::string zygote_end_;  // in words, once it is gone
  std::optional<Code> zygote_killed_for_;
  uint32_t life_ = 0;
  bool said_ready_ = false;
  std::optional<Status> readiness_;
  kj::Own<kj::PromiseFulfiller<Status>> ready_;
  uint64_t next_ticket_ = 1;
  uint64_t answers_ = 0;  // at most one for each ticket
  std::map<uint64_t, Pending> pending_;
  std::map<pid_t, Watched> watched_;
  // Its tasks use all of the above: gone first.
  std::unique_ptr<kj::TaskSet> tasks_;
};

}  // namespace bulkhead::supervisor
