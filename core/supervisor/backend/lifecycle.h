// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/discovery/discover.h"
#include "core/include/bulkhead/backend_counts.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend_keeper.h"
#include "core/supervisor/backend/backend_machine.h"
#include "core/supervisor/backend/backend_start.h"
#include "core/supervisor/backend/crash_recorder.h"
#include "core/supervisor/backend/devices.h"
#include "core/supervisor/backend/session_launches.h"
#include "core/supervisor/blame/blame.h"

namespace bulkhead::supervisor {

// Starts, stops and restarts one backend. Does not know sessions; Backend
// (backend.h) does.
//
// The backend starts when one of its devices is first asked for. One zygote is
// started, however many callers ask at the same time, and a probe worker counts
// the devices. A zygote that ended is replaced when the next session needs it.
// The table of backend_states.h decides which action follows an event. Blame
// decides whose fault a failure was, and when the backend is to be quarantined.
//
// Owned by Backend. Bound to the event loop's thread. Trusts discovery and the
// reaper. Messages from the zygote and the probe are validated
// (backend_start.h).
class Lifecycle : private BackendMachine::Effects, private BlameSubject {
 public:
  // `number` is unique among the backends. `context` and `keeper` must outlive
  // this object.
  Lifecycle(discovery::BackendCandidate candidate, unsigned number,
            const StartContext& context, BackendKeeper& keeper);

  // Starts the backend unless it runs. Callers at the same time share a start.
  kj::Promise<Status> EnsureReady();
  // Resolves with the incarnation that has to clone a new session's worker: the
  // running one, or one for this session alone (session_launches.h). Call it
  // after EnsureReady(), and again from there if it fails with kBackendLost.
  kj::Promise<Result<std::shared_ptr<Incarnation>>> ForSession();
  // Decodes the built-in clip, and those that the backend brings, with the
  // running backend, before it takes over from another version; see
  // HealthCheck. Fails if its bulkhead.toml names a clip that could not be used
  // when it was found.
  kj::Promise<Status> CheckNewVersion();
  // Tells about a device that a worker with media has said to be lost, in a
  // session that was opened at `opened`.
  struct DeviceFate {
    // Processes that have seen no media find it lost, too (FreshCheck).
    bool lost = false;
    // Other sessions have lost it at the same time.
    bool together = false;
  };
  kj::Promise<DeviceFate> CheckDevice(
      const std::string& device, std::chrono::steady_clock::time_point opened);

  // Commands of operators. Sessions go on. A command fails, with the reason, if
  // the backend is disabled.
  kj::Promise<Status> Restart();
  kj::Promise<Status> Disable();
  kj::Promise<Status> Enable();
  kj::Promise<Status> Reload();

  // Says that the installed files are not the discovered ones any more.
  // Returns whether this backend drains now, so that another takes its place.
  bool FilesChanged();
  // Says that the changed files are complete.
  kj::Promise<Status> FilesSettled();
  // Ends the zygote if its object was overwritten in place: the pages of the
  // old object that the zygote has mapped are gone, so it serves no one new. A
  // zygote that runs a copy goes on.
  kj::Promise<void> EndIfOverwritten();
  // Returns whether a zygote runs on the pages of the object itself.
  bool RunsOnItsFile() const;
  // Lets a successor take all new sessions. Returns false if the backend is
  // disabled, in which case nothing may take its place.
  bool Retire();
  // Says that the last session was closed.
  void SessionsEnded();
  // Resolves once the backend drains and has no session. Call it once.
  kj::Promise<void> WhenDrained();

  const discovery::BackendCandidate& candidate() const { return candidate_; }
  unsigned number() const { return number_; }
  BackendState state() const { return machine_.state(); }
  // Returns the reason why the backend is not ready, for people; empty if there
  // is nothing to say.
  const std::string& reason() const { return reason_; }
  // Returns the reason of a quarantine that the next start will find, for
  // people; empty if there is none.
  std::string RecordedQuarantine() const;
  // Returns whether an operator has disabled the backend.
  bool disabled() const;
  // Returns whether the backend was replaced and still clones workers for the
  // streams that it has.
  bool continues_streams() const;
  // Returns whether the backend starts or is ready.
  bool serving() const;
  const Devices& devices() const { return devices_; }
  // Returns the running incarnation, or null if no incarnation was started
  // since the last failure.
  const std::shared_ptr<Incarnation>& current() const { return current_; }
  // Returns the incarnation that runs or starts; null if there is none.
  const Incarnation* latest() const;
  // The number of incarnations so far.
  uint32_t lives() const { return lives_; }
  // Returns the permissions of the running backend, or of its next start if it
  // does not run. Adds remarks for operators to `diagnostics`: about these
  // permissions, and about files that the backend cannot open.
  std::vector<std::string> DescribeAccess(Diagnostics& diagnostics) const;
  // Describes an incarnation whose process ended, for CrashRecorder.
  EndedBackend Ended(Incarnation* incarnation) const;
  Blame& blame() { return blame_; }
  std::chrono::steady_clock::time_point Now() const override;

 private:
  // Executes the actions of the table; no other function does.
  kj::Promise<Status> Execute(BackendAction action,
                              const BackendCause& cause) override;
  void OnStateChange() override;
  bool ProvesNothingElsewhere() const override;
  bool CanBeTried() const override;
  // Decodes the same in a fresh incarnation, since this one has workers with
  // media. A clip that cannot be read is left out, since an upgrade may have
  // removed it.
  kj::Promise<Status> CheckHealth() override;
  kj::Promise<Status> CheckAfresh(const std::string& device);
  QuarantineRecord DescribeObject() const override;
  kj::Promise<Result<std::string>> HashObject() override;
  void CompareWithFile();
  void Quarantine(Code code, const std::string& why) override;

  kj::Promise<Status> BeginStart();
  kj::Promise<Status> AwaitStart();
  kj::Promise<Status> FinishStart(BackendStart& start, const Status& status);
  std::string DescribeFailure(const Status& cause, Incarnation* launched,
                              std::optional<Culprit> culprit, bool probing);
  // Judges a launch for a session that has begun under `start`.
  kj::Promise<Result<std::shared_ptr<Incarnation>>> JudgeLaunch(
      const BackendStart& start, SessionLaunches::Outcome outcome);
  kj::Promise<Status> AwaitSuccessor();
  // Counts a launch for a session as a failed start of the backend.
  Status FailStart(const Status& cause, Incarnation& launched);
  void Adopt();
  void OnZygoteGone(uint32_t life);
  void OnSessionZygoteGone(Incarnation& ended);
  void CountZygote(Incarnation& failed);
  bool BackoffIsOver() const;
  kj::Promise<Status> AwaitBackoff();
  void BackOff(const BackendCause& cause);
  void Stop(Code code, const std::string& why);
  void Forgive();
  Status LoadFailure(Code code, const std::string& cause) const;
  Granting Granted() const;

  // The latest check whether a device is lost.
  struct DeviceCheck {
    bool under_way = false;
    uint32_t sessions = 0;  // those that it answers
    DeviceFate fate;
    // When it was over.
    std::chrono::steady_clock::time_point over;
    kj::Maybe<kj::ForkedPromise<void>> ends;
  };

  const discovery::BackendCandidate candidate_;
  const unsigned number_;
  const StartContext& context_;
  BackendKeeper& keeper_;
  BackendMachine machine_;
  std::string reason_;
  // The answer to callers while nothing may be started.
  Status refusal_{Code::kBackendUnavailable, "the backend is not ready"};
  Devices devices_;
  std::shared_ptr<Incarnation> current_;
  // The start under way, or the last one; null before the first.
  std::shared_ptr<BackendStart> start_;
  kj::Maybe<kj::ForkedPromise<Status>> starting_;
  uint32_t lives_ = 0;
  uint64_t refused_tasks_ = 0;  // TaskLimits::Refusals() at the last start
  BackendCounts& counts_;
  SessionLaunches session_launches_;
  kj::Own<kj::PromiseFulfiller<void>> drained_;
  kj::Promise<void> noting_ = kj::READY_NOW;
  // The last members: their tasks use the others.
  kj::Maybe<kj::ForkedPromise<void>> zygote_gone_;
  Blame blame_;
  std::map<std::string, DeviceCheck> device_checks_;
};

}  // namespace bulkhead::supervisor
