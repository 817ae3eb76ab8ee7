// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>
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

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/reaper_link.h"
#include "core/supervisor/backend/watched_workers.h"
#include "core/supervisor/backend/zygote_link.h"
#include "core/supervisor/records/log_tail.h"
#include "core/supervisor/sandbox/expected_calls.h"
#include "core/supervisor/sandbox/memory_limit.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::backend {

// The workers that the zygote of one incarnation was asked for and that are not
// there yet.
//
// The zygote names the process that it cloned. It could name any, so the name
// is a claim until the reaper confirms it. Every wait has a deadline, after
// which the process that owes the answer is ended.
//
// Owned by Incarnation. Bound to the event loop's thread.
class Clones {
 public:
  struct Worker {
    pid_t pid;            // in the reaper's pid namespace
    ipc::UniqueFd pidfd;  // opened by the reaper
    sandbox::MemoryLimits memory;
  };
  // The job of a worker, which decides what is sent over its socket.
  enum class Kind {
    kSession,  // serves one session; the socket is the session's
    kShared,   // serves many; gets a SharedWorkerRequest for each
    kProbe,    // counts the devices; sends one DeviceList
    kCheck,    // as kSession, with no media but our own: its tasks may be
               // those that workers with media leave
  };
  // The timeout of a clone for which nobody waits. A zygote that is late with
  // it goes on when it is asked for the next.
  static constexpr std::chrono::hours kNobodyWaits{24 * 365};
  // The time within which such a worker is cloned, or is locked down. A clone
  // takes 2 ms, and more on a busy machine.
  static constexpr kj::Duration kTimeForSpare = 1 * kj::SECONDS;

  class Owner {
   public:
    // The zygote was asked for a clone, or has answered one.
    virtual void OnCloneAsked() = 0;
    virtual void OnCloneAnswered() = 0;
    // A process that the zygote named, or may have made, is no worker.
    virtual void EndStrangers() = 0;

   protected:
    ~Owner() = default;
  };

  // References are borrowed; `tasks` must be destroyed before this object.
  Clones(kj::UnixEventPort& port, ZygoteLink& zygote, ReaperLink& reaper,
         WatchedWorkers& workers, sandbox::ExpectedCalls& expected,
         const sandbox::LoadedMemory& loading, kj::TaskSet& tasks, Owner& owner)
      : port_(port),
        timer_(port.getTimer()),
        zygote_(zygote),
        reaper_(reaper),
        workers_(workers),
        expected_calls_(expected),
        loading_(loading),
        tasks_(tasks),
        owner_(owner) {}
  KJ_DISALLOW_COPY(Clones);

  // See Incarnation::CloneWorker().
  kj::Promise<Result<Worker>> Clone(Kind kind, ipc::UniqueFd socket,
                                    std::chrono::milliseconds timeout,
                                    const sandbox::MemoryAllowance& memory);
  // Take what the zygote answers.
  Status OnCloned(ipc::schema::Cloned::Reader cloned_untrusted);
  Status OnCloneFailed(ipc::schema::CloneFailed::Reader failed_untrusted);
  // Take what the reaper says of a process that the zygote named.
  void OnWatched(pid_t pid, ipc::UniqueFd pidfd);
  void OnRefused(pid_t pid);
  void OnStarved(pid_t pid, const Status& why);
  // A process ended that the reaper has not confirmed.
  void OnExited(pid_t pid);
  // Fails all clones.
  void Fail(const Status& status);

  // Returns whether the zygote has named the process as a worker that it was
  // asked for.
  bool Names(pid_t pid) { return PendingOf(pid) != nullptr; }
  // Returns the time until which somebody waits for the zygote to name a
  // worker; the present time if nobody does.
  kj::TimePoint AwaitedUntil() const;

 private:
  struct Pending {
    kj::Own<kj::PromiseFulfiller<Result<Worker>>> fulfiller;
    std::optional<pid_t> pid;  // empty until the zygote has named it
    sandbox::MemoryLimits memory;
    // The descriptors that the worker gets, and the zygote must not have.
    std::optional<sandbox::ExpectedCalls::WorkerDescriptors> descriptors;
    std::unique_ptr<records::LogTail> log;  // null if it writes to the zygote's
    // The reason why a descriptor could not be sent, if that was tried in vain.
    std::optional<Status> starved;
    // The time by which the zygote must have named it.
    kj::TimePoint until = kj::origin<kj::TimePoint>();
  };

  // Asks the zygote for a clone, again and again while it is starved.
  kj::Promise<void> Send(uint64_t ticket,
                         kj::Own<capnp::MessageBuilder> message,
                         ipc::UniqueFd socket);
  // Gives up a clone that did not come within `timeout`.
  Result<Worker> GiveUp(uint64_t ticket, std::chrono::milliseconds timeout);
  // Counts an answer to a clone; fails if it answers nothing.
  Status CountAnswer();
  void AskToWatch(pid_t pid_untrusted);
  Pending* PendingOf(pid_t pid);
  void Finish(pid_t pid, Result<Worker> result);

  kj::UnixEventPort& port_;
  kj::Timer& timer_;
  ZygoteLink& zygote_;
  ReaperLink& reaper_;
  WatchedWorkers& workers_;
  sandbox::ExpectedCalls& expected_calls_;
  const sandbox::LoadedMemory& loading_;
  kj::TaskSet& tasks_;
  Owner& owner_;
  uint64_t next_ticket_ = 1;
  uint64_t answers_ = 0;  // messages from the zygote; at most one per ticket
  std::map<uint64_t, Pending> pending_;
};

}  // namespace bulkhead::backend
