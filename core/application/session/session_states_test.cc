// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/session_states.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/readme_tables.h"

namespace bulkhead::session {
namespace {

using State = SessionState;
using Event = SessionEvent;
using Action = SessionAction;

TEST(SessionStates, TheReadmeShowsEachCell) {
  supervisor::ExpectInReadme<State, Event>("## A session", kSessionStates,
                                           kSessionEvents);
}

TEST(SessionStates, OnlyAFrameIsDelivered) {
  for (size_t s = 0; s < kSessionStates; ++s) {
    for (size_t e = 0; e < kSessionEvents; ++e) {
      const auto event = static_cast<Event>(e);
      const SessionStep step = Next(static_cast<State>(s), event);
      EXPECT_TRUE(step.action != Action::kDeliver || event == Event::kFrame);
    }
  }
}

TEST(SessionStates, ADeathIsNeverTheEndOfTheStream) {
  for (size_t s = 0; s < kSessionStates; ++s) {
    for (const Event event :
         {Event::kWorkerDied, Event::kDeadline, Event::kProtocolViolation,
          Event::kGivenUp, Event::kPoisoned}) {
      const auto state = static_cast<State>(s);
      const SessionStep step = Next(state, event);
      EXPECT_NE(step.action, Action::kTellEnd);
      EXPECT_TRUE(step.next != State::kEnded || state == State::kEnded);
    }
  }
}

TEST(SessionStates, EveryStateCanBeReachedFromOpening) {
  std::set<State> reached = {State::kOpening};
  for (size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (const State state : std::set<State>(reached)) {
      for (size_t e = 0; e < kSessionEvents; ++e) {
        reached.insert(Next(state, static_cast<Event>(e)).next);
      }
    }
  }
  EXPECT_EQ(reached.size(), kSessionStates);
}

}  // namespace
}  // namespace bulkhead::session
