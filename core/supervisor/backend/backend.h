// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/control/input_position.h"
#include "core/discovery/discover.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/event.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend_start.h"
#include "core/supervisor/backend/backend_states.h"
#include "core/supervisor/backend/crash_recorder.h"
#include "core/supervisor/backend/workers.h"
#include "core/supervisor/blame/culprit.h"
#include "core/supervisor/blame/input_deaths.h"
#include "core/supervisor/blame/restart_policy.h"
#include "core/supervisor/blame/suspects.h"

namespace bulkhead::supervisor {

// One discovered backend and its lives. Starts nothing until a device is asked
// for; then starts a zygote once however many ask at the same time, has a probe
// worker count the devices, and has Workers place the sessions. A zygote that
// ended is replaced when the next session needs it.
//
// What happens when is the table of backend_states.h. Whose fault an end was is
// worker_blame.h's to say; failures of the backend, of its devices and of its
// start are counted by its RestartPolicy, deaths for which an input is to blame
// by its PoisonedInputs. A worker's death does not change the state, unless it
// is the one too many. A quarantine outlives bulkheadd (quarantine_records.h)
// and ends when the files change or the record is taken away.
//
// Owned by Supervisor. Bound to the event loop's thread. Trusts discovery and
// the reaper; what the zygote and the probe say is validated.
class Backend {
 public:
  struct StartedSession {
    uint64_t id;
    uint32_t device_ordinal;
    std::string device;  // canonical: "openreg:1"
    int pidfd;           // borrowed; valid until the session is closed
    bool shared;         // its worker may serve others too
  };

  // Whose session it is, as its host tells.
  struct SessionOrigin {
    std::string input;          // as PoisonedInputs knows it
    std::string path;           // of the input, for people
    uint32_t counter = 0;       // among the host's session counters
    uint64_t worker_bytes = 0;  // Workers::Serve
  };
  struct OpenedSession {
    uint64_t id;
    std::string device;
    SessionOrigin origin;
    pid_t worker_pid;
  };

  // What a host tells of a session whose worker it saw end.
  struct SeenSessionEnd {
    uint64_t id;
    SeenEnd seen;
    bool met_media;
    InputPosition position;
    SessionFacts facts;
  };
  struct SessionExit {
    ExitReport report;
    Culprit culprit = Culprit::kNobody;
    uint32_t deaths_here = 0;  // those of the input at that position
  };

  struct DescribedDevice {
    std::string name;
    std::string description;
  };

  // `number` is unique among the backends.
  Backend(discovery::BackendCandidate candidate, unsigned number,
          const StartContext& context);

  // Has a worker for `device` serve `socket`. `id` names the session from then
  // on. `alone`: in a worker of its own, whatever the manifest asks for.
  kj::Promise<Result<StartedSession>> OpenSession(
      uint64_t id, const discovery::DeviceName& device, bool alone,
      SessionOrigin origin, ipc::UniqueFd socket);
  bool HasSession(uint64_t id) const { return workers_.Serves(id); }
  Status ConfirmSession(uint64_t id) { return workers_.Confirm(id); }
  // How the worker of a session ended; counts whose fault it was. Once a
  // session.
  kj::Promise<SessionExit> EndSession(const SeenSessionEnd& seen,
                                      std::chrono::milliseconds timeout);
  void FrameDelivered(uint64_t id, InputPosition position);
  void CloseSession(uint64_t id);
  // Where that input is refused.
  std::vector<PoisonedPosition> Refused(const std::string& input);

  // Starts it unless it runs. Callers at the same time share one start.
  kj::Promise<Status> EnsureReady();
  // And has that device.
  kj::Promise<Status> Prepare(const discovery::DeviceName& device);

  // What operators ask for; the table says what comes of it. Sessions go on.
  // Not OK: it is disabled, for which reason is said.
  Status Restart();
  Status Disable();
  Status Enable();
  // True: a successor is to be started and checked.
  kj::Promise<Result<bool>> Reload();

  // Once it is ready: whether it decodes; see HealthCheck.
  kj::Promise<Status> CheckHealth();
  // A successor takes the new sessions, the old ones finish here. False: it is
  // disabled, and nothing is to take its place.
  bool Retire();
  // Once it has no session any more. Once, and after Retire().
  kj::Promise<void> WhenDrained();
  // Whether its files are others than those that it runs.
  bool IsReplacedBy(const discovery::BackendCandidate& present) const {
    return Next(state_, BackendEvent::kFilesChanged).action ==
               BackendAction::kReplace &&
           !(present == candidate_);
  }
  // Its processes have the object's pages in their memory: those of one that
  // was overwritten in place are not fit for new sessions.
  void EndIfOverwritten();

  const discovery::BackendCandidate& candidate() const { return candidate_; }
  unsigned number() const { return number_; }
  BackendState state() const { return state_; }
  const std::string& reason() const { return reason_; }
  // On an operator's command.
  bool disabled() const { return disabled_; }
  // By the names that a caller uses; those of the manifest, without a
  // description, until a probe has counted.
  std::vector<DescribedDevice> devices() const;
  // Whether it is to be replaced at once when its files have changed.
  bool BeginsAnew() const;
  // Starts or is ready.
  bool serving() const;
  // Has or gets sessions, of whatever life.
  bool busy() const { return opening_ > 0 || workers_.busy(); }
  // The permissions that the latest life has, if it runs; otherwise those that
  // the next would have. Adds what is to be said about them.
  std::vector<std::string> DescribeGrants(Diagnostics& diagnostics) const;
  // The latest life; null before the first.
  const Incarnation* incarnation() const;
  uint32_t lives() const { return lives_; }
  std::vector<pid_t> session_pids() const { return workers_.pids(); }
  std::vector<OpenedSession> sessions() const;
  // Workers that ended while they had a session.
  uint32_t worker_ends() const { return worker_ends_; }

 private:
  // Moves on in the table. What is to be done for whoever asked is left to the
  // caller.
  BackendAction Raise(BackendEvent event);
  // Once what happens now is over, so that the reason is known.
  void NoteState();
  void NoteZygoteEnd();
  // `report`: of its worker, if that has ended.
  void NoteSession(bulkhead::Event::Kind kind, uint64_t id,
                   const ExitReport* report = nullptr);
  RestartPolicy::Time Now() const;
  kj::Promise<Result<StartedSession>> PlaceSession(
      uint64_t id, Workers::Placing placing, uint32_t ordinal,
      const std::string& device, SessionOrigin origin, ipc::UniqueFd socket);
  Granting Granted() const;
  bool BackoffIsOver() const;

  kj::Promise<Status> BeginStart();
  // The start under way; if that is abandoned, what comes after it.
  kj::Promise<Status> AwaitStart();
  kj::Promise<Status> AwaitBackoff();
  Status FinishStart(BackendStart& start, const Status& status);
  // `incarnation`: what was launched; null: nothing.
  Status FailStart(const Status& cause, Incarnation* incarnation);
  // `life`: whose.
  void OnZygoteGone(uint32_t life);
  EndedBackend Ended(Incarnation* incarnation) const;
  void EndZygote(Code code, const char* why);
  // Raises it, and ends the start or the zygote where the table says so.
  BackendAction Command(BackendEvent event, const char* why);
  // Every failure, and its quarantine.
  void Forget();
  void NoteSessionsEnded();
  RestartPolicy NewPolicy() const;
  // Acquits the backend and its devices if a session got a frame since this was
  // asked last, or may have.
  void NoteFrames();
  // The input's, of whose session a worker died, or its own after all.
  Culprit InputOrOwn(const std::string& input);
  void BeginTrial();
  // What lost its device with others is no further loss.
  void CountDeviceLoss(uint64_t session);
  // A device that was lost is not asked for again at once.
  kj::Promise<Status> AwaitDevice(const std::string& device);
  // A failure of the backend's own while it was ready. `code`: of those who ask
  // for its devices if it was the one too many.
  void CountFailure(Code code, const std::string& what);
  void Quarantine(Code code, const std::string& why);
  // Nothing is to be started for that reason, whoever decided it.
  void EnterQuarantine(Code code, const std::string& why);
  // For later lives of bulkheadd, and for others.
  kj::Promise<void> RecordQuarantine(QuarantineRecord record);
  Result<CountedDevice> FindDevice(const discovery::DeviceName& name) const;
  Status LoadFailure(Code code, const std::string& cause) const;

  const discovery::BackendCandidate candidate_;
  const unsigned number_;
  const StartContext& context_;
  BackendState state_;
  RestartPolicy policy_;
  PoisonedInputs inputs_;
  struct Session {
    std::string device;
    SessionOrigin origin;
    RestartPolicy::Time opened;
    uint64_t frames = 0;  // when NoteFrames() was asked last
  };
  std::map<uint64_t, Session> sessions_;
  Suspects suspects_;
  kj::Promise<void> trial_ = kj::READY_NOW;
  struct DeviceLosses {
    RestartPolicy policy;
    RestartPolicy::Time latest;
  };
  // By device; those of a session that got a frame of it since are forgotten.
  std::map<std::string, DeviceLosses> device_losses_;
  uint32_t worker_ends_ = 0;

  std::shared_ptr<Incarnation> current_;  // null before the first was ready
  std::shared_ptr<BackendStart> start_;   // under way, or the last that was
  kj::Maybe<kj::ForkedPromise<Status>> starting_;
  kj::Maybe<kj::ForkedPromise<void>> zygote_gone_;
  uint32_t lives_ = 0;
  std::string reason_;
  kj::Promise<void> noting_ = kj::READY_NOW;
  bool disabled_ = false;
  bool recorded_ = false;  // its quarantine is, and ends with the record
  kj::Promise<void> recording_ = kj::READY_NOW;
  Status refusal_;  // what those who ask get while nothing may be started
  std::vector<CountedDevice> devices_;
  Workers workers_;
  uint32_t opening_ = 0;  // sessions that are not placed yet
  kj::Own<kj::PromiseFulfiller<void>> drained_;
};

}  // namespace bulkhead::supervisor
