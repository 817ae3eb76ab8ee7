// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "core/discovery/discover.h"
#include "core/include/bulkhead/backend_counts.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend_keeper.h"
#include "core/supervisor/backend/incarnations.h"
#include "core/supervisor/backend/refusal.h"
#include "core/supervisor/backend/states.h"
#include "core/supervisor/backend/trials.h"
#include "core/supervisor/blame/blame.h"

namespace bulkhead::backend {

// Starts, stops and restarts one backend. Does not know sessions; Backend
// (backend.h) does.
//
// The backend starts when one of its devices is first asked for. One zygote is
// started, however many callers ask at the same time, and a probe worker counts
// the devices. A zygote that ended is replaced when the next session needs it.
// The table of states.h decides which action follows an event. This class
// executes the action, mostly through Incarnations. Blame decides whose fault a
// failure was, and when the backend is quarantined. When Blame puts the backend
// on trial, Trials has it decode known clips. ExternalEvents raises the events
// of operators and of changed files.
//
// Owned by Backend. Bound to the event loop's thread. Trusts discovery and the
// reaper.
class Lifecycle : private BackendMachine::Effects,
                  private Incarnations::Owner,
                  private Trials::Owner {
 public:
  // The longest time that a session waits for a backoff or a lost device
  // instead of failing: shorter than any deadline, longer than the backoffs
  // after the first failures.
  static constexpr std::chrono::milliseconds kLongestWait{1'000};

  // `number` is unique among the backends. `context` and `keeper` must outlive
  // this object.
  Lifecycle(discovery::BackendCandidate candidate, unsigned number,
            const StartContext& context, BackendKeeper& keeper);

  // Starts the backend unless it runs. Callers at the same time share a start.
  kj::Promise<Status> EnsureReady() override;
  // Resolves with the incarnation that clones the worker of a new session. Call
  // it after EnsureReady(). If it fails with kBackendLost, begin again with
  // EnsureReady().
  kj::Promise<Result<std::shared_ptr<Incarnation>>> ForSession() {
    return incarnations_.ForSession();
  }
  // Raises an event of the table. Resolves with the answer of the action.
  kj::Promise<Status> Raise(BackendEvent event,
                            const BackendCause& cause = {}) {
    return machine_.Raise(event, cause);
  }
  // Resolves once the backend drains and has no session. Call it once.
  kj::Promise<void> WhenDrained();

  const discovery::BackendCandidate& candidate() const { return candidate_; }
  unsigned number() const { return number_; }
  BackendState state() const { return machine_.state(); }
  // Returns the reason why the backend is not ready, for people; empty if there
  // is nothing to say.
  const std::string& reason() const { return refusal_.reason(); }
  // Returns the answer to callers while nothing may be started.
  const Status& refusal() const { return refusal_.answer(); }
  // Returns, for people, the reason of a recorded quarantine that the next
  // start will find; empty if there is none.
  std::string RecordedQuarantine() const;
  // Returns whether an operator has disabled the backend.
  bool disabled() const;
  // Returns whether the backend was replaced and still clones workers for the
  // streams that it has.
  bool continues_streams() const;
  // Returns whether the backend starts or is ready.
  bool serving() const;
  const Devices& devices() const { return incarnations_.devices(); }
  // Returns the incarnation that runs or starts; null if there is none.
  const Incarnation* latest() const;
  const Incarnations& incarnations() const { return incarnations_; }
  Trials& trials() { return trials_; }
  blame::Blame& blame() { return blame_; }
  std::chrono::steady_clock::time_point Now() const { return trials_.Now(); }

 private:
  // Executes the actions of the table; no other function does.
  kj::Promise<Status> Execute(BackendAction action,
                              const BackendCause& cause) override;
  void OnStateChange() override;

  kj::Promise<Status> OnStarted() override;
  kj::Promise<Status> OnStartFailed(const BackendCause& cause) override;
  kj::Promise<Status> OnQuarantineFound(const BackendCause& cause) override;
  bool IsReady() const override { return state() == BackendState::kReady; }
  void OnZygoteEnded(Incarnation& ended) override;
  Status OnLoadFailed(const BackendCause& cause) override;
  kj::Promise<Status> AwaitSuccessor() override {
    return keeper_.NeedSuccessor(number_);
  }

  void Explain(std::string why) override { refusal_.Explain(std::move(why)); }
  void Quarantine(Code code, const std::string& why) override;

  const std::shared_ptr<Incarnation>& current() const {
    return incarnations_.current();
  }
  bool BackoffIsOver() const;
  // Waits until a short backoff ends and starts the backend; refuses at once if
  // the backoff is long or follows a failed start.
  kj::Promise<Status> AwaitBackoff();
  void BackOff(const BackendCause& cause);
  // Forgets all failures and the record of a quarantine.
  void Forgive();

  const discovery::BackendCandidate candidate_;
  const unsigned number_;
  const StartContext& context_;
  BackendKeeper& keeper_;
  BackendMachine machine_;
  Refusal refusal_;
  BackendCounts& counts_;
  kj::Own<kj::PromiseFulfiller<void>> drained_;
  kj::Promise<void> noting_ = kj::READY_NOW;  // adds the event of a new state
  // The last members: their tasks use the others.
  Incarnations incarnations_;
  Trials trials_;
  blame::Blame blame_;
};

}  // namespace bulkhead::backend
