// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/lifecycle.h"

#include <memory>
#include <random>
#include <utility>

namespace bulkhead::backend {
namespace {

using State = BackendState;
using Event = BackendEvent;
using Action = BackendAction;

blame::BlameLimits LimitsOf(const StartContext& context) {
  blame::BlameLimits limits{.attempts_per_position =
                                context.attempts_per_position};
  limits.restarts.backend.failures = context.failures_per_backend;
  limits.restarts.start.failures = context.failures_per_backend;
  return limits;
}

// Copies share the engine, so that no two of them yield the same sequence.
blame::RestartPolicy::Random MakeRandom() {
  return [engine = std::make_shared<std::minstd_rand>(std::random_device()())] {
    return std::uniform_real_distribution<double>(0, 1)(*engine);
  };
}

}  // namespace

Lifecycle::Lifecycle(discovery::BackendCandidate candidate, unsigned number,
                     const StartContext& context, BackendKeeper& keeper)
    : candidate_(std::move(candidate)),
      number_(number),
      context_(context),
      keeper_(keeper),
      machine_(candidate_.usable() ? State::kDiscovered : State::kDisabled,
               *this),
      refusal_(candidate_),
      counts_(context.counts.Of(candidate_.name())),
      incarnations_(candidate_, number, context, *this),
      trials_(candidate_, number, context, incarnations_, *this),
      blame_(trials_, LimitsOf(context), context.quarantine, MakeRandom()) {}

kj::Promise<Status> Lifecycle::Execute(Action action,
                                       const BackendCause& cause) {
  switch (action) {
    case Action::kStart:
      incarnations_.Start();
      return incarnations_.AwaitStart();
    case Action::kJoinStart:
      return incarnations_.AwaitStart();
    case Action::kServe:
      return Status();
    case Action::kRefuse:
      return refusal_.answer();
    case Action::kAwaitBackoff:
      return AwaitBackoff();
    case Action::kAdopt:
      blame_.BecameReady();
      refusal_.Forget();
      incarnations_.Adopt();
      return Status();
    case Action::kDiscard:
      incarnations_.Discard();
      return refusal_.answer();
    case Action::kBackOff:
      BackOff(cause);
      return refusal_.answer();
    case Action::kReportLoss:
      return refusal_.WasLost(cause);
    case Action::kQuarantine:
      refusal_.IsQuarantined(cause);
      incarnations_.Stop(cause.code, "it was quarantined");
      // Bulkhead's own backends are the last resort, so their quarantine has no
      // record: a later bulkheadd tries them again.
      if (!candidate_.built_in) {
        blame_.RecordQuarantine(cause.code, cause.text);
      }
      return refusal_.answer();
    case Action::kStop:
      incarnations_.Stop(cause.code, cause.text);
      return Status();
    case Action::kRestart:
      incarnations_.Stop(cause.code, cause.text);
      Forgive();
      return Status();
    case Action::kForgive:
      Forgive();
      return Status();
    case Action::kDisable:
      incarnations_.Stop(cause.code, cause.text);
      refusal_.IsDisabled();
      return Status();
    case Action::kLeave:
      refusal_.IsReplaced();
      return Status();
    case Action::kStartSuccessor:
      return keeper_.StartSuccessor(number_);
    case Action::kLookAgain:
      keeper_.LookAgain();
      return Status();
    case Action::kDrop:
      if (drained_) drained_->fulfill();
      return Status();
    case Action::kNothing:
      break;
  }
  return Status();
}

kj::Promise<Status> Lifecycle::EnsureReady() {
  if (state() == State::kReady && !current()->zygote_alive()) {
    // The zygote is dead, but how it ended is not known yet. That decides
    // between a backoff and a start at once.
    return incarnations_.WhenZygoteGone().then(
        [this] { return EnsureReady(); });
  }
  // The next two events are raised here and by no timer: a backend that nobody
  // asks for stays as it is.
  if (BackoffIsOver()) machine_.Raise(Event::kBackoffOver);
  if (blame_.QuarantineIsOver()) machine_.Raise(Event::kQuarantineLifted);
  return machine_.Raise(Event::kDeviceAsked);
}

kj::Promise<Status> Lifecycle::OnStarted() {
  return machine_.Raise(Event::kBecameReady);
}

kj::Promise<Status> Lifecycle::OnStartFailed(const BackendCause& cause) {
  return machine_.Raise(cause.culprit == blame::Culprit::kNobody
                            ? Event::kStartLost
                            : Event::kStartFailed,
                        cause);
}

kj::Promise<Status> Lifecycle::OnQuarantineFound(const BackendCause& cause) {
  blame_.AdoptRecord();
  machine_.Raise(Event::kQuarantined, cause);
  return refusal_.answer();
}

Status Lifecycle::OnLoadFailed(const BackendCause& cause) {
  machine_.Raise(Event::kZygoteFailed, cause);
  return refusal_.answer();
}

void Lifecycle::OnZygoteEnded(Incarnation& ended) {
  if (ended.zygote_lost()) {
    machine_.Raise(Event::kZygoteLost);
    return;
  }
  const std::string end = ended.zygote_end();
  // In any other state the end was expected, or was counted before.
  if (IsReady()) context_.crashes.RecordZygote(incarnations_.Ended(&ended));
  machine_.Raise(Event::kZygoteFailed, {.code = Code::kBackendUnavailable,
                                        .text = end,
                                        .culprit = blame::Culprit::kBackend});
}

bool Lifecycle::BackoffIsOver() const {
  return state() == State::kBackingOff &&
         (blame_.BackoffLeft() == std::chrono::nanoseconds(0) ||
          incarnations_.GrantsOrLibrariesChanged());
}

kj::Promise<Status> Lifecycle::AwaitBackoff() {
  // A start that failed would most likely fail again, so whoever asks gets the
  // cause at once. Only a backend that was ready is worth waiting for.
  if (!current()) return refusal_.answer();
  const std::chrono::nanoseconds left = blame_.BackoffLeft();
  if (left > kLongestWait) return refusal_.answer();
  return context_.port.getTimer()
      .afterDelay(left.count() * kj::NANOSECONDS)
      .then([this] { return EnsureReady(); });
}

void Lifecycle::BackOff(const BackendCause& cause) {
  refusal_.BacksOff(cause);
  // The failure is counted last: one failure too many raises kQuarantined,
  // which replaces the reason.
  if (cause.culprit) {
    blame_.CountFailure(*cause.culprit, Code::kBackendUnavailable, cause.text);
  } else {
    blame_.CountDeclined();
  }
}

void Lifecycle::Forgive() {
  blame_.Forgive();
  refusal_.Forget();
}

void Lifecycle::Quarantine(Code code, const std::string& why) {
  if (state() != State::kQuarantined) ++counts_.quarantines;
  machine_.Raise(Event::kQuarantined, {.code = code, .text = why});
}

void Lifecycle::OnStateChange() {
  // The event is added a moment later, since the action is about to set the
  // reason for it. Several changes in one turn of the loop are one event.
  noting_ = kj::evalLater([this] {
              context_.events.Add({.kind = bulkhead::Event::Kind::kBackendState,
                                   .backend = candidate_.name(),
                                   .state = NameOf(state()),
                                   .text = refusal_.reason()});
            }).eagerlyEvaluate(nullptr);
}

std::string Lifecycle::RecordedQuarantine() const {
  const bool may_be =
      state() == State::kDiscovered || state() == State::kBackingOff;
  if (!may_be || candidate_.built_in) return "";
  const auto record = context_.quarantine.Find(ObjectPath(candidate_));
  return record && blame::MayHold(*record)
             ? refusal_.OfQuarantine(record->reason)
             : "";
}

bool Lifecycle::disabled() const {
  return state() == State::kDisabled && candidate_.usable();
}

bool Lifecycle::continues_streams() const {
  return state() == State::kDraining && current() &&
         current()->zygote_alive() && !StartsByExec(candidate_);
}

bool Lifecycle::serving() const {
  return state() == State::kStarting || state() == State::kReady;
}

const Incarnation* Lifecycle::latest() const {
  return state() == State::kStarting ? incarnations_.starting()
                                     : current().get();
}

kj::Promise<void> Lifecycle::WhenDrained() {
  auto paf = kj::newPromiseAndFulfiller<void>();
  drained_ = kj::mv(paf.fulfiller);
  return kj::mv(paf.promise);
}

}  // namespace bulkhead::backend
