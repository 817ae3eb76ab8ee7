// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <memory>
#include <string>
#include <utility>

#include "core/supervisor/backend/backend.h"
#include "core/supervisor/backend/health_check.h"

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
  suspects_.Acquit();
  device_losses_.clear();
}

void Backend::EndZygote(Code code, const char* why) {
  if (current_ && current_->zygote_alive()) current_->KillZygote(code, why);
}

BackendAction Backend::Command(Event event, const char* why) {
  const bool starting = state_ == State::kStarting;
  const Action action = Raise(event);
  if (action != Action::kStop && action != Action::kRestart) return action;
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

kj::Promise<Status> Backend::CheckHealth() {
  if (state_ != State::kReady || !current_->zygote_alive()) {
    return Status(Code::kBackendLost, "it ended before it could be checked");
  }
  auto check = std::make_unique<HealthCheck>(context_.port, current_);
  // What it decodes both kinds with is the same object.
  const auto kind =
      candidate_.manifest.streams.contains(discovery::StreamKind::kVideo)
          ? discovery::StreamKind::kVideo
          : discovery::StreamKind::kAudio;
  auto checked =
      check->Run(kind, devices_.front().ordinal, context_.worker_deadline);
  return checked.attach(std::move(check));
}

bool Backend::Retire() {
  if (Raise(Event::kSuccessorReady) != Action::kDrain) return false;
  reason_ = "its successor takes the new sessions; it ends with its last one";
  // What a session takes for another try.
  refusal_ = Status(Code::kBackendLost,
                    "the backend " + candidate_.name() + " was replaced");
  return true;
}

kj::Promise<void> Backend::WhenDrained() {
  auto paf = kj::newPromiseAndFulfiller<void>();
  drained_ = kj::mv(paf.fulfiller);
  NoteSessionsEnded();
  return kj::mv(paf.promise);
}

void Backend::NoteSessionsEnded() {
  if (busy()) return;
  Raise(Event::kSessionsEnded);
  if (drained_) drained_->fulfill();
}

void Backend::EndIfOverwritten() {
  struct stat now = {};
  if (!current_ || !current_->zygote_alive() ||
      ::stat(ObjectPath(candidate_).c_str(), &now) != 0) {
    return;
  }
  const discovery::FileIdentity& loaded = candidate_.plugin_identity;
  const int64_t modified_ns =
      int64_t{now.st_mtim.tv_sec} * 1'000'000'000 + now.st_mtim.tv_nsec;
  if (now.st_dev != loaded.device || now.st_ino != loaded.inode ||
      (now.st_size == loaded.bytes && modified_ns == loaded.modified_ns)) {
    return;
  }
  if (Raise(Event::kFilesOverwritten) != Action::kStop) return;
  EndZygote(Code::kBackendLost, "its object was overwritten while it ran");
}

}  // namespace bulkhead::supervisor
