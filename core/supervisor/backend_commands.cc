// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "core/supervisor/backend.h"

// What a Backend does for its operator.
namespace bulkhead::supervisor {

using State = BackendState;
using Event = BackendEvent;
using Action = BackendAction;

void Backend::Forget() {
  recording_ = kj::READY_NOW;
  // If it cannot be removed the next start compares it again.
  (void)context_.quarantine.Lift(ObjectPath(candidate_));
  recorded_ = false;
  policy_.Forget();
  inputs_.Forget();
}

void Backend::EndZygote(Code code, const char* why) {
  if (current_ && current_->zygote_alive()) current_->KillZygote(code, why);
}

BackendAction Backend::Command(Event event, const char* why) {
  const bool starting = state_ == State::kStarting;
  const Action action = Raise(event);
  if (action != Action::kStop && action != Action::kRestart &&
      action != Action::kReplace) {
    return action;
  }
  if (starting) start_->Abandon();
  EndZygote(Code::kBackendLost, why);
  return action;
}

Status Backend::Restart() {
  switch (Command(Event::kRestartAsked, "it was restarted on command")) {
    case Action::kForgive:
    case Action::kRestart:
      Forget();
      reason_.clear();
      return Status();
    case Action::kRefuse:
      return refusal_;
    default:
      return Status();
  }
}

Status Backend::Disable() {
  if (Command(Event::kDisableAsked, "it was disabled on command") !=
      Action::kStop) {
    return Status();
  }
  disabled_ = true;
  reason_ = "disabled by an operator; `bulkhead enable " + candidate_.name() +
            "` takes it back";
  refusal_ = Status(Code::kBackendUnavailable,
                    "the backend " + candidate_.name() + " is " + reason_);
  return Status();
}

Status Backend::Enable() {
  if (!candidate_.usable()) return refusal_;
  if (Command(Event::kEnableAsked, "") != Action::kBeginAnew) return Status();
  disabled_ = false;
  Forget();
  reason_.clear();
  return Status();
}

kj::Promise<Result<bool>> Backend::Reload() {
  switch (Command(Event::kReloadAsked, "it was reloaded on command")) {
    case Action::kBeginAnew:
      Forget();
      reason_.clear();
      return Result<bool>(false);
    case Action::kJoinStart:
      return AwaitStart().then([](Status status) -> Result<bool> {
        if (!status.ok()) return status;
        return false;
      });
    case Action::kReplace:
      return Result<bool>(true);
    case Action::kRefuse:
      return Result<bool>(refusal_);
    default:
      return Result<bool>(false);
  }
}

}  // namespace bulkhead::supervisor
