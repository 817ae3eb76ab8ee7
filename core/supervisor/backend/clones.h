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

// The clones under way in one incarnation: workers that its zygote was asked
// for and that are not confirmed yet.
//
// The zygote names each worker that it cloned by its pid. It could name any
// process, so the pid is a claim until the reaper confirms that the process is
// its child. Every wait has a deadline, after which the process that owes the
// answer is ended.
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
    kShared,   // serves many sessions; gets a SharedWorkerRequest for each
    kProbe,    // counts the devices; sends one DeviceList
    kCheck,    // decodes a clip of a health check; may use tasks that workers
               // with media must leave free
  };
  // The timeout of the spare: a worker that is cloned ahead, so no session
  // waits for it. A zygote that is late with a spare is not ended, and is asked
  // for the next clone as usual.
  static constexpr std::chrono::hours kNoTimeout{24 * 365};
  // The time that the zygote has to clone a spare. A zygote that is late is
  // stopped (SIGSTOP) if a worker has media. The cloned spare has the same time
  // to lock itself down. A clone takes 2 ms, more on a busy machine.
  static constexpr kj::Duration kTimeForSpare = 1 * kj::SECONDS;

  class Owner {
   public:
    // Called when the zygote was asked for a clone, and when it has answered.
    virtual void OnCloneAsked() = 0;
    virtual void OnCloneAnswered() = 0;
    // Ends processes that are no workers. Called when the zygote may have made
    // or named such a process.
    virtual void EndStrangers() = 0;

   protected:
    ~Owner() = default;
  };

  // References are borrowed; `tasks` must be destroyed before this object. See
  // Incarnation about `expected` and `loading`.
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
  // Handle the answers of the zygote. A returned failure means that the zygote
  // broke the protocol.
  Status OnCloned(ipc::schema::Cloned::Reader cloned_untrusted);
  Status OnCloneFailed(ipc::schema::CloneFailed::Reader failed_untrusted);
  // Handle the answers of the reaper about a process that the zygote named:
  // - OnWatched: its pidfd; empty if the reaper could not get one
  // - OnRefused: the process is no child of the reaper
  // - OnStarved: the pidfd cannot be sent now, because of `why`
  void OnWatched(pid_t pid, ipc::UniqueFd pidfd);
  void OnRefused(pid_t pid);
  void OnStarved(pid_t pid, const Status& why);
  // Handles the end of a process that the reaper has not confirmed.
  void OnExited(pid_t pid);
  // Fails all clones under way with `status`.
  void Fail(const Status& status);

  // Returns whether the zygote has named the process as a worker that it was
  // asked for.
  bool Names(pid_t pid) { return PendingOf(pid) != nullptr; }
  // Returns the latest time until which a caller waits for the zygote to name a
  // worker; the present time if no caller waits.
  kj::TimePoint AwaitedUntil() const;

 private:
  struct Pending {
    kj::Own<kj::PromiseFulfiller<Result<Worker>>> fulfiller;
    std::optional<pid_t> pid;  // empty until the zygote has named the worker
    sandbox::MemoryLimits memory;
    // The descriptors that the worker gets, and the zygote must not have. Empty
    // if the zygote gets the worker's socket with the request.
    std::optional<sandbox::ExpectedCalls::WorkerDescriptors> descriptors;
    // The worker's own stderr; null if the worker writes to the zygote's.
    std::unique_ptr<records::LogTail> log;
    // The reason why a descriptor could not be sent; empty if none failed.
    std::optional<Status> starved;
    // The time by which the zygote must have named the worker.
    kj::TimePoint until = kj::origin<kj::TimePoint>();
  };

  // Asks the zygote for a clone. Asks again later while the zygote's socket is
  // full or descriptors cannot be sent. `socket` is the worker's, if the zygote
  // gets it with the request.
  kj::Promise<void> Send(uint64_t ticket,
                         kj::Own<capnp::MessageBuilder> message,
                         ipc::UniqueFd socket);
  // Gives up a clone that was not made within `timeout`: ends the process that
  // owes the answer, and returns the failure for the caller of Clone().
  Result<Worker> GiveUp(uint64_t ticket, std::chrono::milliseconds timeout);
  // Counts an answer of the zygote; fails if there are more answers than
  // requests.
  Status CountAnswer();
  // Asks the reaper for the pidfd of a process that the zygote named.
  void AskToWatch(pid_t pid_untrusted);
  Pending* PendingOf(pid_t pid);
  // Gives `result` to the caller that waits for the worker `pid`.
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
