// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/blame/culprit.h"

namespace bulkhead::backend {

// The states of a backend, the events that may happen to it, and the actions
// that follow: one table in which each state has a cell for each event.
// README.md shows the table to people. BackendMachine holds the state and looks
// up the cells; Lifecycle executes the actions.
//
// A zygote is "lost" if it ended through nobody's fault: by a SIGKILL that
// bulkheadd did not send, or together with its reaper. Sessions outlive their
// zygote, so stopping a zygote ends no session.

enum class BackendState : uint8_t {
  kDiscovered,   // nothing runs; the next request for a device starts it
  kStarting,     // a zygote loads the object, or a probe counts devices
  kReady,        // new sessions are placed in workers
  kDraining,     // serves its open sessions and takes no others
  kBackingOff,   // failed; is not started before its backoff is over
  kQuarantined,  // failed too often; not started
  kDisabled,     // disabled by an operator, or its files cannot be used
};
inline constexpr size_t kBackendStates = 7;

enum class BackendEvent : uint8_t {
  kDeviceAsked,       // somebody needs one of the devices
  kBecameReady,       // the start under way has succeeded
  kStartFailed,       // the start under way has failed
  kStartLost,         // the zygote was lost during the start
  kZygoteFailed,      // the zygote of a running backend ended by its own doing
  kZygoteLost,        // the zygote of a running backend was lost
  kBackoffOver,       // the backoff is over
  kQuarantined,       // too many failures, or an earlier record of them
  kQuarantineLifted,  // the record of the quarantine was removed
  kFilesChanged,      // the installed files changed or were removed
  kFilesSettled,      // changed files are complete and may be used
  kReloadAsked,       // an operator wants the installed files to be used
  kSuccessorReady,    // a new backend from the changed files passed its check
  kFilesOverwritten,  // the object was overwritten under a live zygote
  kRestartAsked,      // an operator wants a fresh start
  kDisableAsked,      // an operator wants nobody to use the backend
  kEnableAsked,       // an operator lifts kDisableAsked
  kSessionsEnded,     // the last session was closed
};
inline constexpr size_t kBackendEvents = 18;

enum class BackendAction : uint8_t {
  kNothing,
  kStart,           // starts a zygote; answers once the start is over
  kJoinStart,       // answers once the start under way is over
  kServe,           // answers that the backend is ready
  kRefuse,          // answers with the reason why nothing is started
  kAwaitBackoff,    // waits until a short backoff ends; refuses if it is long
  kAdopt,           // uses the zygote that was started
  kDiscard,         // ends the zygote that was started; refuses
  kBackOff,         // counts the failure; sets the time of the next start
  kReportLoss,      // answers that the start was lost and can be tried again
  kQuarantine,      // ends the zygote, refuses from now on, keeps a record
  kStop,            // ends the zygote
  kForgive,         // forgets all failures and the record of a quarantine
  kRestart,         // ends the zygote; forgets as kForgive does
  kDisable,         // ends the zygote; refuses from now on
  kLeave,           // refuses from now on; open sessions go on
  kStartSuccessor,  // starts and checks a new backend from the changed files
  kLookAgain,       // looks at the files again later
  kDrop,            // reports to the catalog that the backend is not needed
};
inline constexpr size_t kBackendActions = 19;

struct BackendStep {
  BackendState next;
  BackendAction action;

  bool operator==(const BackendStep&) const = default;
};

// Looks up one cell of the table.
BackendStep Next(BackendState state, BackendEvent event);

// Return the words that README.md, `bulkhead backends` and messages use.
const char* NameOf(BackendState state);
const char* NameOf(BackendEvent event);
const char* NameOf(BackendAction action);

// The cause of an event, for the actions that report the event or count a
// failure.
struct BackendCause {
  // The status code for callers that ask for the backend.
  Code code = Code::kBackendLost;
  std::string text;
  // The culprit of a failure; empty if the backend itself declined to start.
  std::optional<blame::Culprit> culprit;
};

// The state of one backend, which changes only as the table says. Every event
// is raised here, and every action of the table is executed from here, by
// Effects::Execute.
//
//   machine.Raise(BackendEvent::kDeviceAsked)
//       .then([](Status ready) { ... });
//
// Owned by Lifecycle, which implements the effects. Bound to the event loop's
// thread. Effects may raise further events.
class BackendMachine {
 public:
  class Effects {
   public:
    // Executes the action of a cell, after the state has changed. Resolves with
    // the answer to the caller that raised the event. Not called for kNothing.
    virtual kj::Promise<Status> Execute(BackendAction action,
                                        const BackendCause& cause) = 0;
    virtual void OnStateChange() = 0;

   protected:
    ~Effects() = default;
  };

  BackendMachine(BackendState initial, Effects& effects)
      : state_(initial), effects_(effects) {}
  KJ_DISALLOW_COPY(BackendMachine);

  // Moves to the next state, then executes the action. The action is executed
  // even if the returned promise is dropped.
  kj::Promise<Status> Raise(BackendEvent event, const BackendCause& cause = {});
  BackendState state() const { return state_; }

 private:
  BackendState state_;
  Effects& effects_;
};

}  // namespace bulkhead::backend
