// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>
#include <kj/timer.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/control/crash_note.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/ending_reapers.h"
#include "core/supervisor/backend/violation_watch.h"
#include "core/supervisor/blame/process_exit.h"
#include "core/supervisor/records/log_tail.h"
#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/cgroup.h"
#include "core/supervisor/sandbox/expected_calls.h"
#include "core/supervisor/sandbox/launcher.h"
#include "core/supervisor/sandbox/memory_limit.h"
#include "core/supervisor/sockets/event_socket.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// One life of a backend: its reaper, its zygote and the workers cloned from the
// zygote.
//
// The reaper is trusted. The zygote has run vendor code by the time it says
// that it is ready, so it is not trusted: the lock-down of its threads is
// checked at that point, the reaper confirms every pid that the zygote names, a
// message out of turn ends the zygote, and every wait for the zygote has a
// deadline. This class also ends a process of the backend that makes a
// forbidden system call, and lets the zygote clone exactly the workers that it
// was asked for (ExpectedCalls). A process that nobody named is ended too.
//
// A zygote is stopped (SIGSTOP) once a worker has media, and goes on only while
// somebody waits for a clone. Threads and timers of the vendor's in it are in
// stage 1: they could watch what the worker does, such as how many threads it
// has, and open files that another user watches.
//
// Workers outlive their zygote: an incarnation whose zygote died takes no new
// sessions and lasts as long as its last session.
//
// Shared by Lifecycle and the workers that were cloned from it. Bound to the
// event loop's thread. Destroying it ends the reaper and with the reaper every
// process of the incarnation; EndingReapers sees to that, and nothing waits.
class Incarnation final : private kj::TaskSet::ErrorHandler {
 public:
  struct Worker {
    pid_t pid;            // in the reaper's pid namespace
    ipc::UniqueFd pidfd;  // opened by the reaper
    sandbox::MemoryLimits memory;
  };
  // The job of a worker, which decides what is sent over its socket.
  enum class WorkerKind {
    kSession,  // serves one session; the socket is the session's
    kShared,   // serves many; gets a SharedWorkerRequest for each
    kProbe,    // counts the devices; sends one DeviceList
    kCheck,    // as kSession, with no media but our own: its tasks may be
               // those that workers with media leave
  };

  // `forbidden` is the reaction with which the lock-down was compiled, and
  // `expected` decides on the calls that wait for bulkheadd. `loading` bounds
  // what the zygote may have mapped. `met_media` is shared by the lives of one
  // distribution and set once one of them had media: the logs of the others may
  // then contain media too. All references must outlive this object.
  Incarnation(kj::UnixEventPort& port, sandbox::LaunchedReaper launched,
              sandbox::Forbidden forbidden, sandbox::ExpectedCalls expected,
              const sandbox::LoadedMemory& loading, EndingReapers& ending,
              bool& met_media);
  ~Incarnation() noexcept(false);
  KJ_DISALLOW_COPY(Incarnation);

  // Resolves once the vendor's object is loaded; fails with the reason why it
  // is not.
  kj::Promise<Status> AwaitReady(std::chrono::milliseconds timeout);
  // The timeout of a clone for which nobody waits. A zygote that is late with
  // it goes on when it is asked for the next.
  static constexpr std::chrono::hours kNobodyWaits{24 * 365};
  // Clones a worker that will serve `socket`. The worker may use `memory`
  // beyond what the zygote has. Fails with kBackendLost if the zygote died, or
  // after `timeout`, which ends the zygote, or the reaper if that owes the
  // answer; with kBackendUnavailable if the zygote cannot clone. Fails with
  // kResourceExhausted after `timeout` if other programs of the user had too
  // many descriptors in flight all the time; the zygote is not to blame and
  // lives on.
  kj::Promise<Result<Worker>> CloneWorker(
      WorkerKind kind, ipc::UniqueFd socket, std::chrono::milliseconds timeout,
      const sandbox::MemoryAllowance& memory = {});
  // Resolves after the time within which a worker that nobody waits for is
  // cloned, or is locked down.
  kj::Promise<void> AfterTimeForSpare();
  // Resolves once the worker has ended, or with kRunning after `timeout`. Any
  // number of callers may wait for one worker.
  kj::Promise<ProcessExit> AwaitEnd(pid_t pid,
                                    std::chrono::milliseconds timeout);
  // Checks that every thread of the worker is locked down in stage 2, that its
  // memory is limited, and that the backend has no process that nobody named.
  // Ends the worker if not. If so, it is about to get media: from then on,
  // whatever a process of this incarnation says may contain parts of it.
  Status ConfirmWorker(const Worker& worker);
  // Returns whether the worker's end has not been reported yet.
  bool WorkerRuns(pid_t pid) const;
  void KillWorker(pid_t pid);
  // Ends the zygote. Sessions go on without the zygote. Operators are told
  // `reason`; callers that wait for a clone get `code`.
  void KillZygote(Code code, std::string reason);
  // Forgets a worker, which is killed by now. Call it when nobody will ask
  // about the worker again.
  void ForgetWorker(pid_t pid);

  // Returns whether device nodes were granted, so that there is a device to
  // lose.
  bool has_devices() const { return loading_.maps_devices; }
  bool zygote_alive() const { return zygote_alive_; }
  // Resolves once the zygote has ended and the way it ended is known.
  kj::Promise<void> WhenZygoteGone() { return zygote_gone_.addBranch(); }
  // Returns whether the zygote ended through nobody's fault: by a SIGKILL that
  // bulkheadd did not send, or together with its reaper.
  bool zygote_lost() const { return zygote_lost_; }
  // Returns whether the zygote itself said why it cannot be used.
  bool declined() const { return declined_; }
  // Returns whether the zygote has not begun to load the vendor's object, so
  // that only Bulkhead's own code has run. Where no listener is handed over,
  // nobody can tell, and the answer is false.
  bool before_loading() const { return lacks_listener(); }
  // Returns whether memory, processes or descriptors ran out by then, as the
  // reaper or the zygote wrote before it gave up.
  bool RanOutBeforeLoading();
  bool reaper_alive() const { return reaper_alive_; }
  pid_t reaper_pid() const { return launched_pid_; }
  pid_t zygote_pid() const;
  // Returns the last lines that the zygote wrote to its stderr. Workers write
  // to the same log until they are given media, and afterwards too where the
  // kernel cannot ask bulkheadd.
  LogTail& log() { return log_; }
  // Returns the last lines that a worker wrote to a stderr of its own, and null
  // if it has none or is forgotten.
  LogTail* LogOf(pid_t worker);
  // Returns a description of how the zygote ended; empty while the zygote
  // lives.
  const std::string& zygote_end() const { return zygote_end_; }
  // Returns how the zygote ended, as the reaper reported it, with the zygote's
  // own claim about a crash.
  ExitReport zygote_report() const;
  // The number of this incarnation among those of its backend, from 1; 0 while
  // it starts.
  uint32_t life() const { return life_; }
  void set_life(uint32_t life) { life_ = life; }
  // The tasks that all processes of the backend may have (sandbox::Limits).
  uint64_t most_tasks() const { return most_tasks_; }
  void set_most_tasks(uint64_t tasks) { most_tasks_ = tasks; }

 private:
  // The time between two attempts to send a descriptor.
  static constexpr kj::Duration kStarvedPause = 20 * kj::MILLISECONDS;

  struct Pending {
    kj::Own<kj::PromiseFulfiller<Result<Worker>>> fulfiller;
    std::optional<pid_t> pid;  // empty until the zygote has named it
    sandbox::MemoryLimits memory;
    // The descriptors that the worker gets, and the zygote must not have.
    std::optional<sandbox::ExpectedCalls::WorkerDescriptors> descriptors;
    std::unique_ptr<LogTail> log;  // null if it writes to the zygote's
    // Why a descriptor could not be sent, if it was tried in vain.
    std::optional<Status> starved;
    // When the zygote must have named it.
    kj::TimePoint until = kj::origin<kj::TimePoint>();
  };
  struct Watched {
    ProcessExit end;
    std::vector<kj::Own<kj::PromiseFulfiller<ProcessExit>>> waiters;
    // Reads the worker's own stderr; null if the worker shares the zygote's.
    std::unique_ptr<LogTail> log;
    kj::Promise<void> drained = kj::READY_NOW;

    void Resolve();
  };

  void taskFailed(kj::Exception&& exception) override;
  kj::Promise<void> ServeReaper();
  kj::Promise<void> ServeZygote();
  kj::Promise<void> ReapReaper();
  // Returns whether the zygote still owes the listener of its filter. Its first
  // message brings the listener; no other message brings a descriptor.
  bool lacks_listener() const {
    return forbidden_ == sandbox::Forbidden::kNotify && !violations_;
  }
  Status OnLocked(ipc::ReceivedMessage& message);
  // Resolves the readiness once the zygote has said that it is ready and the
  // reaper has told which process the zygote is.
  void CheckReady();
  // Has what the zygote maps of files held in memory, before any session is
  // opened.
  kj::Promise<Status> HoldFiles();
  kj::Promise<Status> HoldRemaining();
  // Returns whether the zygote has ended or is about to.
  bool IsEnding() const;
  // Ends a zygote that cannot be used, and says why.
  void Refuse(Status status, std::string reason);
  void ResolveReadiness(Status status);
  Status OnReaperEvent(ipc::ReceivedMessage& message);
  Status OnZygoteEvent(ipc::ReceivedMessage& message);
  // Counts an answer to a clone; fails if it answers nothing.
  Status CountAnswer();
  Status OnCloned(ipc::schema::Cloned::Reader cloned_untrusted);
  Status OnCloneFailed(ipc::schema::CloneFailed::Reader failed_untrusted);
  // Asks the zygote for a clone, again and again while it is starved.
  kj::Promise<void> SendClone(uint64_t ticket,
                              kj::Own<capnp::MessageBuilder> message,
                              ipc::UniqueFd socket);
  // Stops the zygote once nobody waits for a clone, if a worker has had media.
  void StopIdleZygote();
  void ContinueZygote();
  void SignalZygote(int signal);
  void AskToWatch(pid_t pid_untrusted);
  void OnStarved(pid_t pid);
  void OnExited(pid_t pid, int wait_status);
  // Ends each process of the backend that nobody named, and the zygote, which
  // alone can have made it.
  void EndStrangers();
  void OnZygoteGone(Code code = Code::kBackendLost);
  void OnReaperGone();
  // Ends a reaper that does not answer, for which nobody is to blame.
  void OnReaperHangs(const std::string& why);
  // Sends a request to the reaper. Calls `again` later if its socket is full.
  void SendToReaper(capnp::MessageBuilder& message,
                    std::function<void()> again);
  // Learns how the reaper ended, if it has.
  void LookAtReaper();
  void KillReaper();
  void FailPending(const Status& status);
  Pending* PendingOf(pid_t pid);
  void FinishPending(pid_t pid, Result<Worker> result);

  kj::UnixEventPort& port_;
  kj::Timer& timer_;
  const pid_t launched_pid_;
  const ipc::UniqueFd reaper_pidfd_;
  kj::UnixEventPort::FdObserver reaper_observer_;
  std::unique_ptr<EventSocket> reaper_;  // null during destruction
  const std::unique_ptr<EventSocket> zygote_;
  std::unique_ptr<sandbox::Cgroup> cgroup_;  // null if there is none
  LogTail log_;

  const sandbox::Forbidden forbidden_;
  sandbox::ExpectedCalls expected_calls_;
  const sandbox::LoadedMemory loading_;
  EndingReapers& ending_;
  bool& met_media_;
  std::unique_ptr<ViolationWatch> violations_;  // null if there is no listener

  pid_t zygote_inner_pid_ = 0;
  ipc::UniqueFd zygote_pidfd_;
  bool zygote_alive_ = true;
  bool zygote_lost_ = false;
  bool declined_ = false;
  kj::PromiseFulfillerPair<void> gone_ = kj::newPromiseAndFulfiller<void>();
  kj::ForkedPromise<void> zygote_gone_ = gone_.promise.fork();
  // True once the zygote's socket is closed and was read to the end.
  bool zygote_heard_out_ = false;
  bool reaper_alive_ = true;
  bool killed_reaper_ = false;
  // How the reaper ended, unless bulkheadd killed it.
  std::optional<ProcessExit> reaper_exit_;
  std::optional<CrashClaim> zygote_claim_;
  std::optional<ExitReport> zygote_exit_;
  std::string zygote_end_;  // in words; empty while it lives
  std::optional<Code> zygote_killed_for_;
  uint32_t life_ = 0;
  uint64_t most_tasks_ = 0;
  bool had_media_ = false;  // in a worker of this incarnation
  bool zygote_stopped_ = false;
  kj::Promise<void> stopping_ = kj::READY_NOW;
  bool said_ready_ = false;
  std::optional<Status> readiness_;
  kj::Own<kj::PromiseFulfiller<Status>> ready_;
  uint64_t next_ticket_ = 1;
  uint64_t answers_ = 0;  // messages from the zygote; at most one per ticket
  std::map<uint64_t, Pending> pending_;
  std::map<pid_t, Watched> watched_;
  // Workers that were forgotten before their end was reported.
  std::set<pid_t> forgotten_;
  // Last member, and destroyed first: its tasks use the others.
  std::unique_ptr<kj::TaskSet> tasks_;
};

}  // namespace bulkhead::supervisor
