// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/states.h"

#include <gtest/gtest.h>
#include <kj/async.h>

#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/supervisor/testing/readme_tables.h"

namespace bulkhead::backend {
namespace {

using State = BackendState;
using Event = BackendEvent;
using Action = BackendAction;

std::vector<State> AllStates() {
  std::vector<State> states;
  for (size_t i = 0; i < kBackendStates; ++i) {
    states.push_back(static_cast<State>(i));
  }
  return states;
}

TEST(BackendStates, TheReadmeShowsEachCell) {
  supervisor::ExpectInReadme<State, Event>("## A backend", kBackendStates,
                                           kBackendEvents);
}

TEST(BackendStates, NothingIsStartedButFromDiscovered) {
  for (const State state : AllStates()) {
    for (size_t e = 0; e < kBackendEvents; ++e) {
      const BackendStep step = Next(state, static_cast<Event>(e));
      EXPECT_EQ(step.action == Action::kStart,
                state == State::kDiscovered &&
                    static_cast<Event>(e) == Event::kDeviceAsked);
      EXPECT_EQ(step.next == State::kStarting,
                state == State::kStarting ? step.next == State::kStarting
                                          : step.action == Action::kStart);
    }
  }
}

TEST(BackendStates, EveryStateCanBeReachedFromDiscovered) {
  std::set<State> reached = {State::kDiscovered};
  for (size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (const State state : std::set<State>(reached)) {
      for (size_t e = 0; e < kBackendEvents; ++e) {
        reached.insert(Next(state, static_cast<Event>(e)).next);
      }
    }
  }
  EXPECT_EQ(reached.size(), kBackendStates);
}

TEST(BackendStates, ALostZygoteIsNeverCounted) {
  for (const State state : AllStates()) {
    for (const Event event : {Event::kStartLost, Event::kZygoteLost}) {
      const BackendStep step = Next(state, event);
      EXPECT_NE(step.action, Action::kBackOff);
      EXPECT_EQ(step.next == State::kBackingOff, state == State::kBackingOff);
    }
  }
}

TEST(BackendStates, QuarantineEndsByItsRecordItsFilesAndAnOperatorAlone) {
  std::set<Event> ways_out;
  for (size_t e = 0; e < kBackendEvents; ++e) {
    const auto event = static_cast<Event>(e);
    const BackendStep step = Next(State::kQuarantined, event);
    if (step.next != State::kQuarantined) ways_out.insert(event);
  }
  EXPECT_EQ(ways_out,
            (std::set<Event>{Event::kQuarantineLifted, Event::kFilesChanged,
                             Event::kSuccessorReady, Event::kRestartAsked,
                             Event::kDisableAsked}));
}

constexpr State kAll[] = {
    State::kDiscovered, State::kStarting,    State::kReady,   State::kDraining,
    State::kBackingOff, State::kQuarantined, State::kDisabled};

// Executes nothing, and remembers what was to be executed and in which state.
class FakeEffects : public BackendMachine::Effects {
 public:
  kj::Promise<Status> Execute(Action action,
                              const BackendCause& cause) override {
    executed.push_back(action);
    last_cause = cause;
    if (machine) state_when_executed = machine->state();
    return Status(Code::kBackendLost, NameOf(action));
  }
  void OnStateChange() override { ++changes; }

  const BackendMachine* machine = nullptr;
  std::vector<Action> executed;
  std::optional<State> state_when_executed;
  BackendCause last_cause;
  int changes = 0;
};

class BackendMachineTest : public testing::Test {
 public:
  ~BackendMachineTest() noexcept override {}  // kj's destructors may throw

 protected:
  // The events by which a new backend gets into each state.
  static std::vector<Event> WayTo(State state) {
    switch (state) {
      case State::kDiscovered:
        return {};
      case State::kStarting:
        return {Event::kDeviceAsked};
      case State::kReady:
        return {Event::kDeviceAsked, Event::kBecameReady};
      case State::kDraining:
        return {Event::kDeviceAsked, Event::kBecameReady,
                Event::kSuccessorReady};
      case State::kBackingOff:
        return {Event::kDeviceAsked, Event::kStartFailed};
      case State::kQuarantined:
        return {Event::kQuarantined};
      case State::kDisabled:
        return {Event::kDisableAsked};
    }
    return {};
  }

  // Brings a backend into `from`, raises `event`, and expects the state after
  // that and the one action that was executed.
  void Expect(Event event, State from, State to, Action action) {
    SCOPED_TRACE(std::string(NameOf(event)) + " in " + NameOf(from));
    EXPECT_TRUE(proven_.insert(from).second) << "proven twice";
    FakeEffects effects;
    BackendMachine machine(State::kDiscovered, effects);
    for (const Event step : WayTo(from)) machine.Raise(step);
    ASSERT_EQ(machine.state(), from);
    effects.executed.clear();
    effects.changes = 0;
    effects.machine = &machine;
    const BackendCause cause{.text = "why"};
    const Status answer = machine.Raise(event, cause).wait(scope_);
    EXPECT_EQ(machine.state(), to) << NameOf(machine.state());
    EXPECT_EQ(effects.changes, from == to ? 0 : 1);
    if (action == Action::kNothing) {
      EXPECT_TRUE(effects.executed.empty()) << NameOf(effects.executed[0]);
      EXPECT_TRUE(answer.ok());
      return;
    }
    ASSERT_EQ(effects.executed.size(), 1u);
    EXPECT_EQ(effects.executed[0], action) << NameOf(effects.executed[0]);
    EXPECT_EQ(effects.state_when_executed, to);
    EXPECT_EQ(effects.last_cause.text, "why");
    EXPECT_EQ(answer.message(), NameOf(action));
  }
  void ExpectStays(Event event, std::initializer_list<State> states,
                   Action action) {
    for (const State state : states) Expect(event, state, state, action);
  }
  void ExpectMoves(Event event, std::initializer_list<State> states, State to,
                   Action action) {
    for (const State state : states) Expect(event, state, to, action);
  }
  // Expects `action` and no change in each state that was not named before.
  void ExpectElsewhere(Event event, Action action) {
    for (const State state : kAll) {
      if (!proven_.contains(state)) Expect(event, state, state, action);
    }
  }

  kj::EventLoop loop_;
  kj::WaitScope scope_{loop_};
  std::set<State> proven_;
};

TEST_F(BackendMachineTest, ADeviceIsStartedServedAwaitedOrRefused) {
  const Event event = Event::kDeviceAsked;
  ExpectMoves(event, {State::kDiscovered}, State::kStarting, Action::kStart);
  ExpectStays(event, {State::kStarting}, Action::kJoinStart);
  ExpectStays(event, {State::kReady}, Action::kServe);
  ExpectStays(event, {State::kBackingOff}, Action::kAwaitBackoff);
  ExpectElsewhere(event, Action::kRefuse);
}

TEST_F(BackendMachineTest, AStartedZygoteIsUsedOnlyIfItIsStillWanted) {
  ExpectMoves(Event::kBecameReady, {State::kStarting}, State::kReady,
              Action::kAdopt);
  ExpectElsewhere(Event::kBecameReady, Action::kDiscard);
}

TEST_F(BackendMachineTest, AFailedStartBacksOffUnlessTheBackendHasMovedOn) {
  ExpectMoves(Event::kStartFailed, {State::kStarting}, State::kBackingOff,
              Action::kBackOff);
  ExpectElsewhere(Event::kStartFailed, Action::kRefuse);
}

TEST_F(BackendMachineTest, ALostStartIsReportedAndCanBeTriedAgainAtOnce) {
  ExpectMoves(Event::kStartLost, {State::kStarting}, State::kDiscovered,
              Action::kReportLoss);
  ExpectElsewhere(Event::kStartLost, Action::kRefuse);
}

TEST_F(BackendMachineTest, OnlyTheZygoteOfAReadyBackendCountsWhenItFails) {
  ExpectMoves(Event::kZygoteFailed, {State::kReady}, State::kBackingOff,
              Action::kBackOff);
  ExpectElsewhere(Event::kZygoteFailed, Action::kNothing);
}

TEST_F(BackendMachineTest, ALostZygoteIsReplacedWithoutBlame) {
  ExpectMoves(Event::kZygoteLost, {State::kReady}, State::kDiscovered,
              Action::kNothing);
  ExpectElsewhere(Event::kZygoteLost, Action::kNothing);
}

TEST_F(BackendMachineTest, AfterABackoffTheBackendMayBeStarted) {
  ExpectMoves(Event::kBackoffOver, {State::kBackingOff}, State::kDiscovered,
              Action::kNothing);
  ExpectElsewhere(Event::kBackoffOver, Action::kNothing);
}

TEST_F(BackendMachineTest, AQuarantineStopsWhatMayStillBeStarted) {
  const Event event = Event::kQuarantined;
  ExpectMoves(
      event,
      {State::kDiscovered, State::kStarting, State::kReady, State::kBackingOff},
      State::kQuarantined, Action::kQuarantine);
  // Its successor has its place: there is nothing to quarantine.
  ExpectStays(event, {State::kDraining}, Action::kStop);
  ExpectElsewhere(event, Action::kNothing);
}

TEST_F(BackendMachineTest, ALiftedQuarantineForgives) {
  ExpectMoves(Event::kQuarantineLifted, {State::kQuarantined},
              State::kDiscovered, Action::kForgive);
  ExpectElsewhere(Event::kQuarantineLifted, Action::kNothing);
}

TEST_F(BackendMachineTest, ABackendThatDoesNotRunLeavesChangedFilesToAnother) {
  const Event event = Event::kFilesChanged;
  ExpectMoves(event,
              {State::kDiscovered, State::kBackingOff, State::kQuarantined,
               State::kDisabled},
              State::kDraining, Action::kLeave);
  ExpectElsewhere(event, Action::kNothing);
}

TEST_F(BackendMachineTest, ABackendThatRunsGetsASuccessorFromSettledFiles) {
  const Event event = Event::kFilesSettled;
  ExpectStays(event, {State::kReady}, Action::kStartSuccessor);
  ExpectStays(event, {State::kStarting}, Action::kLookAgain);
  ExpectElsewhere(event, Action::kNothing);
}

TEST_F(BackendMachineTest, AReloadForgivesReplacesJoinsOrIsRefused) {
  const Event event = Event::kReloadAsked;
  ExpectStays(event, {State::kDiscovered}, Action::kForgive);
  ExpectMoves(event, {State::kBackingOff}, State::kDiscovered,
              Action::kForgive);
  ExpectStays(event, {State::kStarting}, Action::kJoinStart);
  ExpectStays(event, {State::kReady}, Action::kStartSuccessor);
  ExpectStays(event, {State::kQuarantined, State::kDisabled}, Action::kRefuse);
  ExpectElsewhere(event, Action::kNothing);
}

TEST_F(BackendMachineTest, ASuccessorReplacesAnyBackendThatIsNotDisabled) {
  const Event event = Event::kSuccessorReady;
  ExpectMoves(event,
              {State::kDiscovered, State::kStarting, State::kReady,
               State::kBackingOff, State::kQuarantined},
              State::kDraining, Action::kLeave);
  ExpectElsewhere(event, Action::kNothing);
}

TEST_F(BackendMachineTest, AnOverwrittenObjectEndsTheZygoteThatHasItMapped) {
  const Event event = Event::kFilesOverwritten;
  ExpectMoves(event, {State::kReady}, State::kDiscovered, Action::kStop);
  ExpectStays(event, {State::kDraining}, Action::kStop);
  ExpectElsewhere(event, Action::kNothing);
}

TEST_F(BackendMachineTest, ARestartForgivesAndEndsWhatRuns) {
  const Event event = Event::kRestartAsked;
  ExpectStays(event, {State::kDiscovered}, Action::kForgive);
  ExpectMoves(event, {State::kBackingOff, State::kQuarantined},
              State::kDiscovered, Action::kForgive);
  ExpectMoves(event, {State::kStarting, State::kReady}, State::kDiscovered,
              Action::kRestart);
  ExpectStays(event, {State::kDisabled}, Action::kRefuse);
  ExpectElsewhere(event, Action::kNothing);
}

TEST_F(BackendMachineTest, AnyBackendButADrainingOneCanBeDisabled) {
  const Event event = Event::kDisableAsked;
  ExpectMoves(event,
              {State::kDiscovered, State::kStarting, State::kReady,
               State::kBackingOff, State::kQuarantined},
              State::kDisabled, Action::kDisable);
  ExpectElsewhere(event, Action::kNothing);
}

TEST_F(BackendMachineTest, OnlyADisabledBackendCanBeEnabled) {
  ExpectMoves(Event::kEnableAsked, {State::kDisabled}, State::kDiscovered,
              Action::kForgive);
  ExpectElsewhere(Event::kEnableAsked, Action::kNothing);
}

TEST_F(BackendMachineTest, ADrainingBackendIsDroppedWithItsLastSession) {
  ExpectStays(Event::kSessionsEnded, {State::kDraining}, Action::kDrop);
  ExpectElsewhere(Event::kSessionsEnded, Action::kNothing);
}

// Counts a failure, which is one too many, while it executes another action.
class NestingEffects : public BackendMachine::Effects {
 public:
  kj::Promise<Status> Execute(Action action, const BackendCause&) override {
    executed.push_back(action);
    if (action == Action::kBackOff) machine->Raise(Event::kQuarantined);
    return Status();
  }
  void OnStateChange() override {}

  BackendMachine* machine = nullptr;
  std::vector<Action> executed;
};

TEST_F(BackendMachineTest, AnActionMayRaiseTheNextEvent) {
  NestingEffects effects;
  BackendMachine machine(State::kDiscovered, effects);
  effects.machine = &machine;
  for (const Event event : {Event::kDeviceAsked, Event::kStartFailed}) {
    machine.Raise(event);
  }
  EXPECT_EQ(machine.state(), State::kQuarantined);
  EXPECT_EQ(effects.executed, (std::vector{Action::kStart, Action::kBackOff,
                                           Action::kQuarantine}));
}

}  // namespace
}  // namespace bulkhead::backend
