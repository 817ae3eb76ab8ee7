// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/backend_states.h"

#include <array>

#include "core/base/state_table.h"

namespace bulkhead::supervisor {
namespace {

using State = BackendState;
using Event = BackendEvent;
using Action = BackendAction;

using On = StateRow<Event, BackendStep, kBackendStates>;

// The next state is named by its function, what is done by the argument.
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
    On(Event::kBecameReady, Discovered(Action::kStop), Ready(Action::kServe),
       Ready(Action::kIgnore), Draining(Action::kStop),
       BackingOff(Action::kStop), Quarantined(Action::kStop),
       Disabled(Action::kStop)),
    On(Event::kStartFailed, Discovered(Action::kIgnore),
       BackingOff(Action::kBackOff), Ready(Action::kIgnore),
       Draining(Action::kIgnore), BackingOff(Action::kIgnore),
       Quarantined(Action::kIgnore), Disabled(Action::kIgnore)),
    On(Event::kStartLost, Discovered(Action::kIgnore),
       Discovered(Action::kRefuse), Ready(Action::kIgnore),
       Draining(Action::kIgnore), BackingOff(Action::kIgnore),
       Quarantined(Action::kIgnore), Disabled(Action::kIgnore)),
    On(Event::kZygoteFailed, Discovered(Action::kIgnore),
       Starting(Action::kIgnore), BackingOff(Action::kBackOff),
       Draining(Action::kIgnore), BackingOff(Action::kIgnore),
       Quarantined(Action::kIgnore), Disabled(Action::kIgnore)),
    On(Event::kZygoteLost, Discovered(Action::kIgnore),
       Starting(Action::kIgnore), Discovered(Action::kGoOn),
       Draining(Action::kGoOn), BackingOff(Action::kIgnore),
       Quarantined(Action::kIgnore), Disabled(Action::kIgnore)),
    On(Event::kBackoffOver, Discovered(Action::kIgnore),
       Starting(Action::kIgnore), Ready(Action::kIgnore),
       Draining(Action::kIgnore), Discovered(Action::kGoOn),
       Quarantined(Action::kIgnore), Disabled(Action::kIgnore)),
    On(Event::kQuarantined, Quarantined(Action::kStop),
       Quarantined(Action::kStop), Quarantined(Action::kStop),
       Draining(Action::kStop), Quarantined(Action::kStop),
       Quarantined(Action::kIgnore), Disabled(Action::kIgnore)),
    On(Event::kQuarantineLifted, Discovered(Action::kIgnore),
       Starting(Action::kIgnore), Ready(Action::kIgnore),
       Draining(Action::kIgnore), BackingOff(Action::kIgnore),
       Discovered(Action::kForgive), Disabled(Action::kIgnore)),
    On(Event::kFilesChanged, Discovered(Action::kBeginAnew),
       Starting(Action::kGoOn), Ready(Action::kReplace),
       Draining(Action::kGoOn), BackingOff(Action::kBeginAnew),
       Quarantined(Action::kBeginAnew), Disabled(Action::kBeginAnew)),
    On(Event::kReloadAsked, Discovered(Action::kBeginAnew),
       Starting(Action::kJoinStart), Ready(Action::kReplace),
       Draining(Action::kIgnore), Discovered(Action::kBeginAnew),
       Quarantined(Action::kRefuse), Disabled(Action::kRefuse)),
    On(Event::kSuccessorReady, Draining(Action::kDrain),
       Draining(Action::kDrain), Draining(Action::kDrain),
       Draining(Action::kIgnore), Draining(Action::kDrain),
       Draining(Action::kDrain), Disabled(Action::kRefuse)),
    On(Event::kSuccessorFailed, Discovered(Action::kGoOn),
       Starting(Action::kGoOn), Ready(Action::kGoOn), Draining(Action::kIgnore),
       BackingOff(Action::kGoOn), Quarantined(Action::kGoOn),
       Disabled(Action::kGoOn)),
    On(Event::kFilesOverwritten, Discovered(Action::kGoOn),
       Starting(Action::kGoOn), Discovered(Action::kStop),
       Draining(Action::kStop), BackingOff(Action::kGoOn),
       Quarantined(Action::kGoOn), Disabled(Action::kGoOn)),
    On(Event::kRestartAsked, Discovered(Action::kForgive),
       Discovered(Action::kRestart), Discovered(Action::kRestart),
       Draining(Action::kIgnore), Discovered(Action::kForgive),
       Discovered(Action::kForgive), Disabled(Action::kRefuse)),
    On(Event::kDisableAsked, Disabled(Action::kStop), Disabled(Action::kStop),
       Disabled(Action::kStop), Draining(Action::kIgnore),
       Disabled(Action::kStop), Disabled(Action::kStop),
       Disabled(Action::kIgnore)),
    On(Event::kEnableAsked, Discovered(Action::kIgnore),
       Starting(Action::kIgnore), Ready(Action::kIgnore),
       Draining(Action::kIgnore), BackingOff(Action::kIgnore),
       Quarantined(Action::kIgnore), Discovered(Action::kBeginAnew)),
    On(Event::kSessionsEnded, Discovered(Action::kGoOn),
       Starting(Action::kGoOn), Ready(Action::kGoOn), Draining(Action::kRemove),
       BackingOff(Action::kGoOn), Quarantined(Action::kGoOn),
       Disabled(Action::kGoOn)),
};

static_assert(IsInOrder(kTable, kBackendEvents));

constexpr std::array<const char*, kBackendStates> kStates = {
    "discovered",  "starting",    "ready",   "draining",
    "backing-off", "quarantined", "disabled"};

constexpr std::array<const char*, kBackendEvents> kEvents = {
    "device asked",     "became ready",      "start failed",
    "start lost",       "zygote failed",     "zygote lost",
    "backoff over",     "quarantined",       "quarantine lifted",
    "files changed",    "reload asked",      "successor ready",
    "successor failed", "files overwritten", "restart asked",
    "disable asked",    "enable asked",      "sessions ended"};

constexpr std::array kActions = {
    "ignored",
    "start a zygote",
    "join the start",
    "serve",
    "refuse, with the reason",
    "wait if it is short, else refuse",
    "count, set the time",
    "end the zygote",
    "forget failures",
    "end the zygote, forget failures",
    "begin anew from the files",
    "start a successor",
    "leave it to the successor",
    "go on",
    "drop it",
};
static_assert(kActions.size() == static_cast<size_t>(Action::kRemove) + 1);

}  // namespace

BackendStep Next(BackendState state, BackendEvent event) {
  return StepIn(kTable, state, event);
}

const char* NameOf(BackendState state) { return NameIn(kStates, state); }
const char* NameOf(BackendEvent event) { return NameIn(kEvents, event); }
const char* NameOf(BackendAction action) { return NameIn(kActions, action); }

}  // namespace bulkhead::supervisor
