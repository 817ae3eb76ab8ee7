// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/session_states.h"

#include <array>

#include "core/base/state_table.h"

namespace bulkhead::session {
namespace {

using State = SessionState;
using Event = SessionEvent;
using Action = SessionAction;

using On = StateRow<Event, SessionStep, kSessionStates>;

// An event that finds every state alike.
constexpr On Always(Event event, SessionStep step) {
  return On(event, step, step, step, step, step, step, step);
}

// The next state is named by its function, what is done by the argument.
constexpr SessionStep Opening(Action a) { return {State::kOpening, a}; }
constexpr SessionStep Scanning(Action a) { return {State::kScanning, a}; }
constexpr SessionStep Seeking(Action a) { return {State::kSeeking, a}; }
constexpr SessionStep Streaming(Action a) { return {State::kStreaming, a}; }
constexpr SessionStep Replaying(Action a) { return {State::kReplaying, a}; }
constexpr SessionStep Ended(Action a) { return {State::kEnded, a}; }
constexpr SessionStep Failed(Action a) { return {State::kFailed, a}; }

// Columns: opening, scanning, seeking, streaming, replaying, ended, failed. A
// first worker that dies while it opens is replaced in the same state: there is
// nothing to replay yet.
constexpr std::array kTable = {
    On(Event::kOpened, Streaming(Action::kResume), Scanning(Action::kIgnore),
       Seeking(Action::kIgnore), Streaming(Action::kIgnore),
       Streaming(Action::kResume), Ended(Action::kIgnore),
       Failed(Action::kIgnore)),
    On(Event::kIndexAsked, Opening(Action::kIgnore), Scanning(Action::kServe),
       Scanning(Action::kServe), Scanning(Action::kServe),
       Scanning(Action::kServe), Scanning(Action::kServe),
       Scanning(Action::kServe)),
    On(Event::kIndexed, Opening(Action::kIgnore), Streaming(Action::kResume),
       Seeking(Action::kIgnore), Streaming(Action::kIgnore),
       Replaying(Action::kIgnore), Ended(Action::kIgnore),
       Failed(Action::kIgnore)),
    On(Event::kFrameAsked, Opening(Action::kIgnore), Streaming(Action::kServe),
       Streaming(Action::kServe), Streaming(Action::kServe),
       Streaming(Action::kServe), Ended(Action::kTellEnd),
       Streaming(Action::kServe)),
    On(Event::kPlaceAsked, Opening(Action::kIgnore), Seeking(Action::kServe),
       Seeking(Action::kServe), Seeking(Action::kServe),
       Seeking(Action::kServe), Seeking(Action::kServe),
       Seeking(Action::kServe)),
    On(Event::kFrame, Opening(Action::kIgnore), Scanning(Action::kIgnore),
       Streaming(Action::kDeliver), Streaming(Action::kDeliver),
       Replaying(Action::kIgnore), Ended(Action::kIgnore),
       Failed(Action::kIgnore)),
    On(Event::kEndOfStream, Opening(Action::kIgnore), Scanning(Action::kIgnore),
       Streaming(Action::kReport), Ended(Action::kTellEnd),
       Replaying(Action::kIgnore), Ended(Action::kIgnore),
       Failed(Action::kIgnore)),
    On(Event::kRefused, Failed(Action::kReport), Streaming(Action::kReport),
       Streaming(Action::kReport), Streaming(Action::kReport),
       Failed(Action::kReport), Ended(Action::kReport),
       Failed(Action::kReport)),
    On(Event::kWorkerDied, Opening(Action::kReplay), Replaying(Action::kReplay),
       Replaying(Action::kReplay), Replaying(Action::kReplay),
       Replaying(Action::kReplay), Ended(Action::kIgnore),
       Failed(Action::kIgnore)),
    On(Event::kDeadline, Opening(Action::kReplay), Replaying(Action::kReplay),
       Replaying(Action::kReplay), Replaying(Action::kReplay),
       Replaying(Action::kReplay), Ended(Action::kIgnore),
       Failed(Action::kIgnore)),
    Always(Event::kProtocolViolation, Failed(Action::kFail)),
    Always(Event::kGivenUp, Failed(Action::kFail)),
    Always(Event::kPoisoned, Failed(Action::kFail)),
    On(Event::kRewound, Opening(Action::kIgnore), Streaming(Action::kForget),
       Streaming(Action::kForget), Streaming(Action::kForget),
       Streaming(Action::kForget), Streaming(Action::kForget),
       Failed(Action::kForget)),
    Always(Event::kClosed, Ended(Action::kRelease)),
};

static_assert(IsInOrder(kTable, kSessionEvents));

constexpr std::array<const char*, kSessionStates> kStates = {
    "opening",   "scanning", "seeking", "streaming",
    "replaying", "ended",    "failed"};

constexpr std::array<const char*, kSessionEvents> kEvents = {
    "opened",
    "index asked",
    "indexed",
    "frame asked",
    "place asked",
    "frame",
    "end of stream",
    "refused",
    "worker died",
    "deadline",
    "protocol violation",
    "given up",
    "poisoned",
    "rewound",
    "closed"};

constexpr std::array kActions = {
    "ignored",
    "ask the worker",
    "deliver",
    "resume the step",
    "another worker, alone",
    "tell the end",
    "fail, with the exit report",
    "report, go on",
    "start over",
    "release the worker",
};
static_assert(kActions.size() == static_cast<size_t>(Action::kRelease) + 1);

}  // namespace

SessionStep Next(SessionState state, SessionEvent event) {
  return StepIn(kTable, state, event);
}

const char* NameOf(SessionState state) { return NameIn(kStates, state); }
const char* NameOf(SessionEvent event) { return NameIn(kEvents, event); }
const char* NameOf(SessionAction action) { return NameIn(kActions, action); }

}  // namespace bulkhead::session
