// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <utility>

#include "core/base/application_limits.h"
#include "core/supervisor/backend/lifecycle.h"

// What a Lifecycle does for sessions: the processes from which their workers
// are cloned, and the blame for those that fail.
namespace bulkhead::supervisor {

using State = BackendState;
using Event = BackendEvent;
using ForOne = Result<std::shared_ptr<Incarnation>>;

kj::Promise<ForOne> Lifecycle::ForSession() {
  // Between EnsureReady() and here the zygote may have ended, and another start
  // may have begun. A session that gets kBackendLost tries again.
  const bool exec = StartsByExec(candidate_);
  if (!current_ || (exec && state() != State::kReady)) {
    return ForOne(
        Status(Code::kBackendLost,
               "the backend " + candidate_.name() + " is being started anew"));
  }
  if (!exec) return ForOne(current_);
  return session_launches_.Launch(start_->launch(), lives_)
      .then([this, start = start_](SessionLaunches::Outcome outcome) {
        return JudgeLaunch(*start, std::move(outcome));
      });
}

kj::Promise<ForOne> Lifecycle::JudgeLaunch(const BackendStart& start,
                                           SessionLaunches::Outcome outcome) {
  // The command, failure or successor that ended this start explains the
  // outcome, or makes it worthless.
  if (start_.get() != &start || state() != State::kReady || !current_) {
    return ForOne(Status(Code::kBackendLost, "the backend " +
                                                 candidate_.name() +
                                                 " was ended while a session "
                                                 "loaded it"));
  }
  if (outcome.files_changed) {
    return AwaitSuccessor().then([](Status why) { return ForOne(why); });
  }
  if (outcome.status.ok()) return ForOne(std::move(outcome.incarnation));
  // Nobody is to blame while others of the user starve it of descriptors.
  if (!outcome.incarnation ||
      outcome.status.code() == Code::kResourceExhausted) {
    return ForOne(NamingLimits(outcome.status));
  }
  if (outcome.incarnation->RanOutBeforeLoading()) {
    return ForOne(Status(
        Code::kResourceExhausted,
        "a session could not load the backend " + candidate_.name() + ": " +
            DescribeFailure(outcome.status, outcome.incarnation.get(),
                            std::nullopt, /*probing=*/false)));
  }
  if (outcome.incarnation->zygote_lost()) {
    return ForOne(Status(Code::kBackendLost,
                         "the process that loaded the backend " +
                             candidate_.name() + " for a session was killed"));
  }
  return ForOne(FailStart(outcome.status, *outcome.incarnation));
}

kj::Promise<Status> Lifecycle::AwaitSuccessor() {
  return keeper_.NeedSuccessor(number_).then([this](Status replaced) -> Status {
    const std::string changed = "the files of the backend " +
                                candidate_.name() +
                                " changed, so that no session can load what "
                                "was started";
    // A session that gets kBackendLost tries again, and finds the successor.
    if (replaced.ok()) return Status(Code::kBackendLost, changed);
    return Status(replaced.code(), changed + "; " + replaced.message());
  });
}

Status Lifecycle::FailStart(const Status& cause, Incarnation& launched) {
  // As at a start, nobody is to blame for what the backend declines by itself.
  std::optional<Culprit> culprit = Culprit::kStart;
  if (launched.declined() || launched.before_loading() ||
      cause.code() == Code::kSandboxUnavailable) {
    culprit.reset();
  }
  const std::string text =
      "a session could not load it: " +
      DescribeFailure(cause, &launched, culprit, /*probing=*/false);
  machine_.Raise(Event::kZygoteFailed,
                 {.code = cause.code() == Code::kSandboxUnavailable
                              ? cause.code()
                              : Code::kBackendUnavailable,
                  .text = text,
                  .culprit = culprit});
  // Whoever asks next gets the cause at once, as after any failed start.
  if (current_ && current_->zygote_alive()) {
    current_->KillZygote(Code::kBackendLost, text);
  }
  current_.reset();
  return refusal_;
}

void Lifecycle::OnSessionZygoteGone(Incarnation& ended) {
  // Those of an earlier start, those that others have killed and those that
  // were ended on purpose count against nobody.
  if (ended.life() != lives_ || ended.zygote_lost() ||
      state() != State::kReady) {
    return;
  }
  context_.events.Add({.kind = bulkhead::Event::Kind::kZygoteEnded,
                       .backend = candidate_.name(),
                       .text = ended.zygote_end()});
  CountZygote(ended);
}

}  // namespace bulkhead::supervisor
