// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/discovery/discover.h"
#include "core/include/bulkhead/backend_counts.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend_start.h"
#include "core/supervisor/backend/devices.h"
#include "core/supervisor/backend/granting.h"
#include "core/supervisor/backend/session_launches.h"
#include "core/supervisor/backend/start_context.h"
#include "core/supervisor/backend/start_failures.h"
#include "core/supervisor/backend/states.h"
#include "core/supervisor/records/crash_recorder.h"

namespace bulkhead::backend {

// The incarnations of one backend: the one that a start under way launches
// (backend_start.h), the one that serves, and those that sessions load for
// themselves (session_launches.h). Begins starts, ends zygotes, and reports to
// its owner how a start or a zygote ended. The owner decides what follows.
//
// Owned by Lifecycle. Bound to the event loop's thread.
class Incarnations {
 public:
  // The incarnation that clones the worker of one session.
  using ForOne = Result<std::shared_ptr<Incarnation>>;

  class Owner {
   public:
    // Called when the start under way has succeeded, or has failed with
    // `cause`, but not for a start that Stop() ended. Resolve with the answer
    // to all who wait for the start.
    virtual kj::Promise<Status> OnStarted() = 0;
    virtual kj::Promise<Status> OnStartFailed(const BackendCause& cause) = 0;
    // Called when a start found that the object is quarantined. Nothing was
    // launched.
    virtual kj::Promise<Status> OnQuarantineFound(
        const BackendCause& cause) = 0;
    // Called for callers who waited for a start that Stop() ended, for instance
    // on an operator's command. They share the next start or are refused.
    virtual kj::Promise<Status> EnsureReady() = 0;
    virtual bool IsReady() const = 0;
    // Called when the zygote that serves has ended, or a zygote that a session
    // loaded for itself. Not called if a session's zygote ended through
    // nobody's fault.
    virtual void OnZygoteEnded(Incarnation& ended) = 0;
    // Called when a session could not load the backend. Returns the answer to
    // the session.
    virtual Status OnLoadFailed(const BackendCause& cause) = 0;
    // Called when a session could not load the backend because its installed
    // files have changed. Resolves once a successor (a new backend from the
    // changed files) serves, or with the reason why there is none.
    virtual kj::Promise<Status> AwaitSuccessor() = 0;

   protected:
    ~Owner() = default;
  };

  // All but `number` are borrowed.
  Incarnations(const discovery::BackendCandidate& candidate, unsigned number,
               const StartContext& context, Owner& owner);
  KJ_DISALLOW_COPY(Incarnations);

  // Begins a start, which goes on even if nobody waits for it.
  void Start();
  // Resolves with the answer of the owner once the start under way is over.
  kj::Promise<Status> AwaitStart();
  // Makes the incarnation that the start has launched the serving one.
  void Adopt();
  // Ends the incarnation that the start has launched.
  void Discard() { start_->TakeIncarnation().reset(); }
  // Ends the start under way and the zygotes. Sessions go on.
  void Stop(Code code, const std::string& why);
  // Resolves with the incarnation for a new session: the one that serves, or
  // one that is launched for this session alone.
  kj::Promise<ForOne> ForSession();

  const Devices& devices() const { return devices_; }
  // Returns the incarnation that serves, or null if none has become ready since
  // the last start or failure. Its zygote may have ended.
  const std::shared_ptr<Incarnation>& current() const { return current_; }
  // Returns the incarnation of the start under way, or null before its launch.
  const Incarnation* starting() const { return start_->incarnation().get(); }
  // Resolves once the zygote that serves has ended and the way it ended is
  // known. There must be a current().
  kj::Promise<void> WhenZygoteGone() {
    return KJ_ASSERT_NONNULL(zygote_gone_).addBranch();
  }
  // The number of incarnations so far.
  uint32_t lives() const { return lives_; }
  // The value of TaskLimits::Refusals(), a count of tasks that the kernel
  // refused, when the last start began.
  uint64_t refused_tasks() const { return refused_tasks_; }
  // Returns whether grants or installed libraries have changed since the last
  // start. A backend that lacked one of them may start now.
  bool GrantsOrLibrariesChanged() const;
  // Returns whether the serving zygote has mapped the installed object itself
  // and not a copy of it.
  bool RunsOnItsFile() const;
  // Returns whether RunsOnItsFile() holds and the installed object was
  // overwritten in place.
  bool ObjectIsOverwritten() const;
  // Returns the permissions of the running backend, or of its next start if it
  // does not run. Adds remarks for operators to `diagnostics`: about these
  // permissions, and about files that the backend cannot open.
  std::vector<std::string> DescribeAccess(Diagnostics& diagnostics) const;
  // Describes an incarnation whose process ended, for CrashRecorder.
  records::EndedBackend Ended(Incarnation* incarnation) const {
    return failures_.Ended(incarnation);
  }

 private:
  // Reports to the owner how `start` ended.
  kj::Promise<Status> FinishStart(BackendStart& start, const Status& status);
  // Returns the answer to a session whose launch has ended with `outcome`.
  // `start` was the last start when that launch began.
  kj::Promise<ForOne> JudgeLaunch(const BackendStart& start,
                                  SessionLaunches::Outcome outcome);
  // Asks the owner for a successor, since the files have changed. Always fails.
  // If the successor serves, the code is kBackendLost, so that the session
  // tries again and finds the successor.
  kj::Promise<ForOne> AwaitSuccessor();
  // Counts a failed load for a session as a failed start of the backend.
  // Returns the answer to the session.
  Status CountAsFailedStart(const BackendCause& cause);
  // Reports the end of the serving zygote if its incarnation is number `life`.
  void OnZygoteGone(uint32_t life);
  void OnSessionZygoteGone(Incarnation& ended);
  Granting Granted() const;

  const discovery::BackendCandidate& candidate_;
  const unsigned number_;
  const StartContext& context_;
  BackendCounts& counts_;
  Owner& owner_;
  const StartFailures failures_;
  Devices devices_;
  std::shared_ptr<Incarnation> current_;
  // The start under way, or the last one; null before the first.
  std::shared_ptr<BackendStart> start_;
  kj::Maybe<kj::ForkedPromise<Status>> starting_;
  uint32_t lives_ = 0;
  uint64_t refused_tasks_ = 0;
  SessionLaunches session_launches_;
  // Resolves once the zygote that serves has ended. The last member: its task
  // uses the others.
  kj::Maybe<kj::ForkedPromise<void>> zygote_gone_;
};

}  // namespace bulkhead::backend
