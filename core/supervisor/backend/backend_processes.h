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
#include "core/supervisor/backend/backend_launch.h"
#include "core/supervisor/backend/backend_start.h"
#include "core/supervisor/backend/devices.h"
#include "core/supervisor/backend/granting.h"
#include "core/supervisor/backend/session_launches.h"
#include "core/supervisor/backend/states.h"
#include "core/supervisor/records/crash_recorder.h"

namespace bulkhead::backend {

// The processes of one backend: the start under way, the incarnation that
// serves, and those that sessions load for themselves (session_launches.h).
// Starts and ends them and says how they ended, in words and with the culprit.
// What follows from that, Lifecycle decides.
//
// Owned by Lifecycle. Bound to the event loop's thread.
class BackendProcesses {
 public:
  using ForOne = Result<std::shared_ptr<Incarnation>>;

  class Owner {
   public:
    // The start under way is over. `cause` says why it failed, if it did. Not
    // called for a start that Stop() ended. Resolves with the answer to whoever
    // waits for the start.
    virtual kj::Promise<Status> OnStarted() = 0;
    virtual kj::Promise<Status> OnStartFailed(const BackendCause& cause) = 0;
    // The object is quarantined; nothing was launched.
    virtual kj::Promise<Status> OnQuarantineFound(
        const BackendCause& cause) = 0;
    // Starts again, for those whose start was ended by a command.
    virtual kj::Promise<Status> EnsureReady() = 0;
    virtual bool IsReady() const = 0;
    // The zygote that serves has ended, or one session's own zygote. Not called
    // if that one ended through nobody's fault.
    virtual void OnZygoteEnded(Incarnation& ended) = 0;
    // A session could not load the backend. Returns the answer to it.
    virtual Status OnLoadFailed(const BackendCause& cause) = 0;
    // Resolves once a successor serves, or with the reason why there is none.
    virtual kj::Promise<Status> AwaitSuccessor() = 0;

   protected:
    ~Owner() = default;
  };

  // All but `number` are borrowed.
  BackendProcesses(const discovery::BackendCandidate& candidate,
                   unsigned number, const StartContext& context, Owner& owner);
  KJ_DISALLOW_COPY(BackendProcesses);

  // Begins a start. It goes on if nobody waits for it.
  void Start();
  // Resolves with what the owner answers once the start under way is over.
  kj::Promise<Status> AwaitStart();
  // Lets the started incarnation serve, or ends it.
  void Adopt();
  void Discard() { start_->TakeIncarnation().reset(); }
  // Ends the start under way and the zygotes. Sessions go on.
  void Stop(Code code, const std::string& why);
  // Resolves with the incarnation that has to clone a new session's worker: the
  // one that serves, or one for this session alone.
  kj::Promise<ForOne> ForSession();

  const Devices& devices() const { return devices_; }
  // Returns the incarnation that serves, or null if none was started since the
  // last failure.
  const std::shared_ptr<Incarnation>& current() const { return current_; }
  // Returns the incarnation that starts, or null before its launch.
  const Incarnation* starting() const { return start_->incarnation().get(); }
  // Resolves once the zygote that serves has ended and the way it ended is
  // known.
  kj::Promise<void> WhenZygoteGone() {
    return KJ_ASSERT_NONNULL(zygote_gone_).addBranch();
  }
  // The number of incarnations so far.
  uint32_t lives() const { return lives_; }
  // TaskLimits::Refusals() at the last start.
  uint64_t refused_tasks() const { return refused_tasks_; }
  // Returns whether a permission was granted or a library was installed since
  // the last start, which may be what the backend lacked.
  bool MayLackLess() const;
  // Returns whether a zygote runs on the pages of the object itself.
  bool RunsOnItsFile() const;
  // Returns whether that object was overwritten in place.
  bool ObjectIsOverwritten() const;
  // See Lifecycle::DescribeAccess().
  std::vector<std::string> DescribeAccess(Diagnostics& diagnostics) const;
  // Describes an incarnation whose process ended, for CrashRecorder.
  records::EndedBackend Ended(Incarnation* incarnation) const;

 private:
  kj::Promise<Status> FinishStart(BackendStart& start, const Status& status);
  // Says why a start failed, and records it as a crash if it has a culprit.
  std::string DescribeFailure(const Status& cause, Incarnation* launched,
                              std::optional<blame::Culprit> culprit,
                              bool probing);
  // Judges a launch for a session that has begun under `start`.
  kj::Promise<ForOne> JudgeLaunch(const BackendStart& start,
                                  SessionLaunches::Outcome outcome);
  kj::Promise<ForOne> AwaitSuccessor();
  // Counts a launch for a session as a failed start of the backend.
  Status FailStart(const Status& cause, Incarnation& launched);
  void OnZygoteGone(uint32_t life);
  void OnSessionZygoteGone(Incarnation& ended);
  Granting Granted() const;

  const discovery::BackendCandidate& candidate_;
  const unsigned number_;
  const StartContext& context_;
  BackendCounts& counts_;
  Owner& owner_;
  Devices devices_;
  std::shared_ptr<Incarnation> current_;
  // The start under way, or the last one; null before the first.
  std::shared_ptr<BackendStart> start_;
  kj::Maybe<kj::ForkedPromise<Status>> starting_;
  uint32_t lives_ = 0;
  uint64_t refused_tasks_ = 0;
  SessionLaunches session_launches_;
  // The last member: its task uses the others.
  kj::Maybe<kj::ForkedPromise<void>> zygote_gone_;
};

}  // namespace bulkhead::backend
