// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <optional>
#include <string>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend_states.h"
#include "core/supervisor/blame/culprit.h"

namespace bulkhead::supervisor {

// The cause of an event, for the actions that report the event or count a
// failure.
struct BackendCause {
  // The status code for callers that ask for the backend.
  Code code = Code::kBackendLost;
  std::string text;
  // The culprit of a failure; empty if the backend itself declined to start.
  std::optional<Culprit> culprit;
};

// The state of one backend, which changes only as the table of backend_states.h
// says. Every event is raised here, and every action of the table is executed
// from here, by Effects::Execute.
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
    // Does what the table says, after the state has changed. Resolves with the
    // answer for whoever raised the event. Not called for kNothing.
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

}  // namespace bulkhead::supervisor
