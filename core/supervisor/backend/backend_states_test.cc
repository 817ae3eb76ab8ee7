// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/backend_states.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/readme_tables.h"

namespace bulkhead::supervisor {
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
  ExpectInReadme<State, Event>("## A backend", kBackendStates, kBackendEvents);
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

}  // namespace
}  // namespace bulkhead::supervisor
