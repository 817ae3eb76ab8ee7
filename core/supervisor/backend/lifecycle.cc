// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/lifecycle.h"

#include <algorithm>
#include <random>
#include <utility>

#include "core/base/application_limits.h"
#include "core/control/exit_report.h"
#include "core/grants/permissions.h"
#include "core/supervisor/files/missing_library.h"

namespace bulkhead::supervisor {
namespace {

using std::chrono::milliseconds;
using State = BackendState;
using Event = BackendEvent;
using Action = BackendAction;

// The longest backoff that a session waits for instead of failing: shorter than
// any deadline, longer than the backoffs after the first failures.
constexpr milliseconds kLongestWait{1'000};

BlameLimits LimitsOf(const StartContext& context) {
  BlameLimits limits{.attempts_per_position = context.attempts_per_position};
  limits.restarts.backend.failures = context.failures_per_backend;
  limits.restarts.start.failures = context.failures_per_backend;
  return limits;
}

std::string QuarantineReason(const std::string& name,
                             const std::string& cause) {
  return "it failed too often, at last so: " + cause +
         "; it is tried again when its files change, when libraries are "
         "installed, or after `bulkhead restart " +
         name + "`";
}

// Copies share the engine, so that no two of them yield the same sequence.
RestartPolicy::Random MakeRandom() {
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
      devices_(candidate_),
      counts_(context.counts.Of(candidate_.name())),
      session_launches_(
          context, [this](Incarnation& ended) { OnSessionZygoteGone(ended); }),
      blame_(*this, LimitsOf(context), context.quarantine, MakeRandom()) {
  if (candidate_.usable()) return;
  reason_ = candidate_.reason;
  refusal_ = Status(Code::kBackendUnavailable, candidate_.reason);
}

kj::Promise<Status> Lifecycle::Execute(Action action,
                                       const BackendCause& cause) {
  const std::string& name = candidate_.name();
  switch (action) {
    case Action::kStart:
      return BeginStart();
    case Action::kJoinStart:
      return AwaitStart();
    case Action::kServe:
      return Status();
    case Action::kRefuse:
      return refusal_;
    case Action::kAwaitBackoff:
      return AwaitBackoff();
    case Action::kAdopt:
      Adopt();
      return Status();
    case Action::kDiscard:
      start_->TakeIncarnation().reset();
      return refusal_;
    case Action::kBackOff:
      BackOff(cause);
      return refusal_;
    case Action::kReportLoss:
      reason_ = cause.text;
      return LoadFailure(cause.code, cause.text);
    case Action::kQuarantine:
      reason_ = QuarantineReason(name, cause.text);
      refusal_ =
          cause.code == Code::kBackendMisbehaved
              ? Status(cause.code, "the backend " + name +
                                       " is quarantined, since " + reason_)
              : LoadFailure(cause.code, "quarantined, since " + reason_);
      Stop(cause.code, "it was quarantined");
      // Bulkhead's own backends are everybody's last resort: a later process
      // tries them again.
      if (!candidate_.built_in) {
        blame_.RecordQuarantine(cause.code, cause.text);
      }
      return refusal_;
    case Action::kStop:
      Stop(cause.code, cause.text);
      return Status();
    case Action::kRestart:
      Stop(cause.code, cause.text);
      Forgive();
      return Status();
    case Action::kForgive:
      Forgive();
      return Status();
    case Action::kDisable:
      Stop(cause.code, cause.text);
      reason_ = "disabled by an operator; `bulkhead enable " + name +
                "` takes it back";
      refusal_ = Status(Code::kBackendUnavailable,
                        "the backend " + name + " is " + reason_);
      return Status();
    case Action::kLeave:
      reason_ =
          "its successor takes the new sessions; it ends with its last one";
      // A session that gets kBackendLost tries again, and finds the successor.
      refusal_ =
          Status(Code::kBackendLost, "the backend " + name + " was replaced");
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
  if (state() == State::kReady && !current_->zygote_alive()) {
    // The zygote is dead, but how it ended is not known yet, and that decides
    // between a backoff and a start at once.
    return KJ_ASSERT_NONNULL(zygote_gone_).addBranch().then([this] {
      return EnsureReady();
    });
  }
  // No timer raises these two: a backend that nobody asks for stays as it is.
  if (BackoffIsOver()) machine_.Raise(Event::kBackoffOver);
  if (blame_.QuarantineIsOver()) machine_.Raise(Event::kQuarantineLifted);
  return machine_.Raise(Event::kDeviceAsked);
}

kj::Promise<Status> Lifecycle::BeginStart() {
  current_.reset();
  refused_tasks_ = context_.task_limits.Refusals();
  start_ = std::make_shared<BackendStart>(candidate_, number_, context_);
  starting_ = start_->Run()
                  .then([this, start = start_](Status status) {
                    return FinishStart(*start, status);
                  })
                  .fork();
  return AwaitStart();
}

kj::Promise<Status> Lifecycle::AwaitStart() {
  return KJ_ASSERT_NONNULL(starting_).addBranch().then(
      [this, start = start_](Status status) -> kj::Promise<Status> {
        // A command ended this start, which is not the caller's concern: the
        // caller waits for the next start, or is refused.
        if (start->abandoned()) return EnsureReady();
        return status;
      });
}

kj::Promise<Status> Lifecycle::FinishStart(BackendStart& start,
                                           const Status& status) {
  if (start.incarnation()) {
    start.incarnation()->set_life(++lives_);
    ++counts_.starts;
  }
  if (start.abandoned()) {
    // The state has moved on, perhaps to another start. Raise nothing.
    start.TakeIncarnation().reset();
    return status;
  }
  if (status.ok()) return machine_.Raise(Event::kBecameReady);
  // Whatever follows, a failed start leaves no process behind.
  const auto launched = start.TakeIncarnation();
  if (start.quarantine()) {
    blame_.AdoptRecord();
    machine_.Raise(Event::kQuarantined,
                   {.code = status.code(), .text = status.message()});
    return refusal_;
  }
  BackendCause cause{.text = DescribeFailure(status, launched.get(),
                                             start.culprit(), start.probing()),
                     .culprit = start.culprit()};
  const bool ran_out = !LowLimits().empty() && SaysExhausted(cause.text);
  if (cause.culprit == Culprit::kNobody) {
    if (status.code() == Code::kResourceExhausted) cause.code = status.code();
    return machine_.Raise(Event::kStartLost, cause);
  }
  cause.code = ran_out ? Code::kResourceExhausted
               : status.code() == Code::kSandboxUnavailable ||
                       status.code() == Code::kResourceExhausted ||
                       status.code() == Code::kNotFound
                   ? status.code()
                   : Code::kBackendUnavailable;
  return machine_.Raise(Event::kStartFailed, cause);
}

std::string Lifecycle::DescribeFailure(const Status& cause,
                                       Incarnation* launched,
                                       std::optional<Culprit> culprit,
                                       bool probing) {
  std::string text = cause.message();
  if (launched && !launched->log().text().empty()) {
    std::string log = launched->log().text();
    std::replace(log.begin(), log.end(), '\n', ' ');
    text += "; it wrote: " + log + PackageOfMissingLibrary(log);
  }
  const std::string low = LowLimits();
  if (!low.empty() && text.find(low) == std::string::npos) {
    text += "; " + RaiseTheLimits(low);
  }
  const auto missing =
      Missing(candidate_.manifest.permissions, Granted().effective);
  if (!missing.empty()) {
    text += "; it asks for what nobody granted: bulkhead grant " +
            candidate_.name() + " " + ToArguments(missing);
  }
  if (launched && culprit) {
    text += context_.crashes.See(context_.crashes.RecordStart(
        Ended(launched), probing, *culprit, cause));
  }
  return text;
}

void Lifecycle::Adopt() {
  blame_.BecameReady();
  reason_.clear();
  current_ = start_->TakeIncarnation();
  devices_.Set(start_->devices());
  zygote_gone_ = current_->WhenZygoteGone()
                     .then([this, life = lives_] { OnZygoteGone(life); })
                     .eagerlyEvaluate(nullptr)
                     .fork();
}

void Lifecycle::OnZygoteGone(uint32_t life) {
  // A later incarnation has taken its place.
  if (life != lives_ || !current_) return;
  const std::string& end = current_->zygote_end();
  context_.events.Add({.kind = bulkhead::Event::Kind::kZygoteEnded,
                       .backend = candidate_.name(),
                       .text = end.empty() ? "with its reaper" : end});
  if (current_->zygote_lost()) {
    machine_.Raise(Event::kZygoteLost);
  } else {
    CountZygote(*current_);
  }
}

void Lifecycle::CountZygote(Incarnation& failed) {
  const std::string end = failed.zygote_end();
  // In another state the end has been expected or counted.
  if (state() == State::kReady) context_.crashes.RecordZygote(Ended(&failed));
  machine_.Raise(Event::kZygoteFailed, {.code = Code::kBackendUnavailable,
                                        .text = end,
                                        .culprit = Culprit::kBackend});
}

bool Lifecycle::BackoffIsOver() const {
  if (state() != State::kBackingOff) return false;
  // A permission that was granted or a library that was installed meanwhile may
  // be what the backend lacked.
  return blame_.BackoffLeft() == std::chrono::nanoseconds(0) ||
         (start_ && (Granted().effective != start_->granted() ||
                     LibrariesInstalledNs() != start_->libraries_ns()));
}

kj::Promise<Status> Lifecycle::AwaitBackoff() {
  // A start that failed would most likely fail again, so whoever asks gets the
  // cause at once. Only a backend that was ready is worth waiting for.
  if (!current_) return refusal_;
  const std::chrono::nanoseconds left = blame_.BackoffLeft();
  if (left > kLongestWait) return refusal_;
  return context_.port.getTimer()
      .afterDelay(left.count() * kj::NANOSECONDS)
      .then([this] { return EnsureReady(); });
}

void Lifecycle::BackOff(const BackendCause& cause) {
  reason_ = cause.text;
  if (cause.culprit == Culprit::kBackend) {
    refusal_ =
        Status(cause.code, "the backend " + candidate_.name() +
                               " waits before it is started again, since its "
                               "process ended: " +
                               cause.text + "; retry later");
  } else {
    refusal_ = LoadFailure(cause.code, cause.text);
  }
  // Last: one failure too many raises kQuarantined, which replaces the reason.
  if (cause.culprit) {
    blame_.CountFailure(*cause.culprit, Code::kBackendUnavailable, cause.text);
  } else {
    blame_.CountDeclined();
  }
}

void Lifecycle::Stop(Code code, const std::string& why) {
  if (start_ && start_->under_way()) start_->Abandon();
  if (current_ && current_->zygote_alive()) current_->KillZygote(code, why);
  session_launches_.KillZygotes(code, why);
}

void Lifecycle::Forgive() {
  blame_.Forgive();
  reason_.clear();
}

void Lifecycle::Quarantine(Code code, const std::string& why) {
  if (state() != State::kQuarantined) ++counts_.quarantines;
  machine_.Raise(Event::kQuarantined, {.code = code, .text = why});
}

void Lifecycle::OnStateChange() {
  // Later, so that the event has the reason that the action is about to set.
  // Several changes in one turn of the loop are one event.
  noting_ = kj::evalLater([this] {
              context_.events.Add({.kind = bulkhead::Event::Kind::kBackendState,
                                   .backend = candidate_.name(),
                                   .state = NameOf(state()),
                                   .text = reason_});
            }).eagerlyEvaluate(nullptr);
}

bool Lifecycle::ProvesNothingElsewhere() const {
  return !LowLimits().empty() ||
         context_.task_limits.WereUsedUp(refused_tasks_);
}

bool Lifecycle::CanBeTried() const {
  return state() == State::kReady && current_->zygote_alive();
}

std::chrono::steady_clock::time_point Lifecycle::Now() const {
  const kj::Duration since =
      context_.port.getTimer().now() - kj::origin<kj::TimePoint>();
  return RestartPolicy::Time(std::chrono::nanoseconds(since / kj::NANOSECONDS));
}

std::string Lifecycle::RecordedQuarantine() const {
  const bool may_be =
      state() == State::kDiscovered || state() == State::kBackingOff;
  if (!may_be || candidate_.built_in) return "";
  const auto record = context_.quarantine.Find(ObjectPath(candidate_));
  return record && MayHold(*record)
             ? QuarantineReason(candidate_.name(), record->reason)
             : "";
}

bool Lifecycle::disabled() const {
  return state() == State::kDisabled && candidate_.usable();
}

bool Lifecycle::continues_streams() const {
  return state() == State::kDraining && current_ && current_->zygote_alive() &&
         !StartsByExec(candidate_);
}

bool Lifecycle::serving() const {
  return state() == State::kStarting || state() == State::kReady;
}

const Incarnation* Lifecycle::latest() const {
  if (state() == State::kStarting) return start_->incarnation().get();
  return current_.get();
}

EndedBackend Lifecycle::Ended(Incarnation* incarnation) const {
  return {
      .candidate = candidate_,
      .incarnation = incarnation,
      .tier = context_.tier,
      .deadline_ms = static_cast<uint32_t>(context_.start_deadline.count())};
}

Status Lifecycle::LoadFailure(Code code, const std::string& cause) const {
  EntryPoint entry_point = candidate_.entry_point;
  entry_point.file = ObjectPath(candidate_);
  return Status(code, discovery::LoadFailureMessage(entry_point, cause));
}

Granting Lifecycle::Granted() const {
  return GrantTo(candidate_, context_.grants.Latest(),
                 start_ ? start_->hash_verdicts() : HashVerdicts());
}

}  // namespace bulkhead::supervisor
