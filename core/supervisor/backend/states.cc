// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/states.h"

#include <array>

#include "core/base/state_table.h"

namespace bulkhead::backend {
namespace {

using State = BackendState;
using Event = BackendEvent;
using Action = BackendAction;

using On = StateRow<Event, BackendStep, kBackendStates>;

// Each function names the next state of a cell, its argument the action.
constexpr BackendStep Discovered(Action a) { return {State::kDiscovered, a}; }
constexpr BackendStep Starting(Action a) { return {State::kStarting, a}; }
constexpr BackendStep Ready(Action a) { return {State::kReady, a}; }
constexpr BackendStep Draining(Action a) { return {State::kDraining, a}; }
constexpr BackendStep BackingOff(Action a) { return {State::kBackingOff, a}; }
constexpr BackendStep Quarantined(Action a) { return {State::kQuarantined, a}; }
constexpr BackendStep Disabled(Action a) { return {State::kDisabled, a}; }

// Columns: discovered, starting, ready, draining, backing-off, quarantined,
// disabled.
constexpr std::array kTable = {
    On(Event::kDeviceAsked, Starting(Action::kStart),
       Starting(Action::kJoinStart), Ready(Action::kServe),
       Draining(Action::kRefuse), BackingOff(Action::kAwaitBackoff),
       Quarantined(Action::kRefuse), Disabled(Action::kRefuse)),
    On(Event::kBecameReady, Discovered(Action::kDiscard), Ready(Action::kAdopt),
       Ready(Action::kDiscard), Draining(Action::kDiscard),
       BackingOff(Action::kDiscard), Quarantined(Action::kDiscard),
       Disabled(Action::kDiscard)),
    On(Event::kStartFailed, Discovered(Action::kRefuse),
       BackingOff(Action::kBackOff), Ready(Action::kRefuse),
       Draining(Action::kRefuse), BackingOff(Action::kRefuse),
       Quarantined(Action::kRefuse), Disabled(Action::kRefuse)),
    On(Event::kStartLost, Discovered(Action::kRefuse),
       Discovered(Action::kReportLoss), Ready(Action::kRefuse),
       Draining(Action::kRefuse), BackingOff(Action::kRefuse),
       Quarantined(Action::kRefuse), Disabled(Action::kRefuse)),
    On(Event::kZygoteFailed, Discovered(Action::kNothing),
       Starting(Action::kNothing), BackingOff(Action::kBackOff),
       Draining(Action::kNothing), BackingOff(Action::kNothing),
       Quarantined(Action::kNothing), Disabled(Action::kNothing)),
    On(Event::kZygoteLost, Discovered(Action::kNothing),
       Starting(Action::kNothing), Discovered(Action::kNothing),
       Draining(Action::kNothing), BackingOff(Action::kNothing),
       Quarantined(Action::kNothing), Disabled(Action::kNothing)),
    On(Event::kBackoffOver, Discovered(Action::kNothing),
       Starting(Action::kNothing), Ready(Action::kNothing),
       Draining(Action::kNothing), Discovered(Action::kNothing),
       Quarantined(Action::kNothing), Disabled(Action::kNothing)),
    On(Event::kQuarantined, Quarantined(Action::kQuarantine),
       Quarantined(Action::kQuarantine), Quarantined(Action::kQuarantine),
       Draining(Action::kStop), Quarantined(Action::kQuarantine),
       Quarantined(Action::kNothing), Disabled(Action::kNothing)),
    On(Event::kQuarantineLifted, Discovered(Action::kNothing),
       Starting(Action::kNothing), Ready(Action::kNothing),
       Draining(Action::kNothing), BackingOff(Action::kNothing),
       Discovered(Action::kForgive), Disabled(Action::kNothing)),
    On(Event::kFilesChanged, Draining(Action::kLeave),
       Starting(Action::kNothing), Ready(Action::kNothing),
       Draining(Action::kNothing), Draining(Action::kLeave),
       Draining(Action::kLeave), Draining(Action::kLeave)),
    On(Event::kFilesSettled, Discovered(Action::kNothing),
       Starting(Action::kLookAgain), Ready(Action::kStartSuccessor),
       Draining(Action::kNothing), BackingOff(Action::kNothing),
       Quarantined(Action::kNothing), Disabled(Action::kNothing)),
    On(Event::kReloadAsked, Discovered(Action::kForgive),
       Starting(Action::kJoinStart), Ready(Action::kStartSuccessor),
       Draining(Action::kNothing), Discovered(Action::kForgive),
       Quarantined(Action::kRefuse), Disabled(Action::kRefuse)),
    On(Event::kSuccessorReady, Draining(Action::kLeave),
       Draining(Action::kLeave), Draining(Action::kLeave),
       Draining(Action::kNothing), Draining(Action::kLeave),
       Draining(Action::kLeave), Disabled(Action::kNothing)),
    On(Event::kFilesOverwritten, Discovered(Action::kNothing),
       Starting(Action::kNothing), Discovered(Action::kStop),
       Draining(Action::kStop), BackingOff(Action::kNothing),
       Quarantined(Action::kNothing), Disabled(Action::kNothing)),
    On(Event::kRestartAsked, Discovered(Action::kForgive),
       Discovered(Action::kRestart), Discovered(Action::kRestart),
       Draining(Action::kNothing), Discovered(Action::kForgive),
       Discovered(Action::kForgive), Disabled(Action::kRefuse)),
    On(Event::kDisableAsked, Disabled(Action::kDisable),
       Disabled(Action::kDisable), Disabled(Action::kDisable),
       Draining(Action::kNothing), Disabled(Action::kDisable),
       Disabled(Action::kDisable), Disabled(Action::kNothing)),
    On(Event::kEnableAsked, Discovered(Action::kNothing),
       Starting(Action::kNothing), Ready(Action::kNothing),
       Draining(Action::kNothing), BackingOff(Action::kNothing),
       Quarantined(Action::kNothing), Discovered(Action::kForgive)),
    On(Event::kSessionsEnded, Discovered(Action::kNothing),
       Starting(Action::kNothing), Ready(Action::kNothing),
       Draining(Action::kDrop), BackingOff(Action::kNothing),
       Quarantined(Action::kNothing), Disabled(Action::kNothing)),
};

static_assert(IsInOrder(kTable, kBackendEvents));

constexpr std::array<const char*, kBackendStates> kStates = {
    "discovered",  "starting",    "ready",   "draining",
    "backing-off", "quarantined", "disabled"};

constexpr std::array<const char*, kBackendEvents> kEvents = {
    "device asked",      "became ready",      "start failed",  "start lost",
    "zygote failed",     "zygote lost",       "backoff over",  "quarantined",
    "quarantine lifted", "files changed",     "files settled", "reload asked",
    "successor ready",   "files overwritten", "restart asked", "disable asked",
    "enable asked",      "sessions ended"};

constexpr std::array<const char*, kBackendActions> kActions = {
    "nothing",
    "start a zygote",
    "join the start",
    "serve",
    "refuse, with the reason",
    "wait if it is short, else refuse",
    "use the zygote",
    "end the new zygote, refuse",
    "count, set the time",
    "report the loss",
    "end the zygote, keep a record",
    "end the zygote",
    "forget failures",
    "end the zygote, forget failures",
    "end the zygote, refuse",
    "leave it to the successor",
    "start a successor",
    "look again later",
    "drop it",
};

}  // namespace

BackendStep Next(BackendState state, BackendEvent event) {
  return StepIn(kTable, state, event);
}

const char* NameOf(BackendState state) { return NameIn(kStates, state); }
const char* NameOf(BackendEvent event) { return NameIn(kEvents, event); }
const char* NameOf(BackendAction action) { return NameIn(kActions, action); }

kj::Promise<Status> BackendMachine::Raise(BackendEvent event,
                                          const BackendCause& cause) {
  const BackendStep step = Next(state_, event);
  const bool changes = step.next != state_;
  // The state changes before the action, which may raise the next event.
  state_ = step.next;
  if (changes) effects_.OnStateChange();
  if (step.action == BackendAction::kNothing) return Status();
  return effects_.Execute(step.action, cause);
}

}  // namespace bulkhead::backend
