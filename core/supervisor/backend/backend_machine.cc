// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/backend_machine.h"

namespace bulkhead::supervisor {

kj::Promise<Status> BackendMachine::Raise(BackendEvent event,
                                          const BackendCause& cause) {
  const BackendStep step = Next(state_, event);
  const bool changes = step.next != state_;
  // Before the action, which may raise the next event.
  state_ = step.next;
  if (changes) effects_.OnStateChange();
  if (step.action == BackendAction::kNothing) return Status();
  return effects_.Execute(step.action, cause);
}

}  // namespace bulkhead::supervisor
