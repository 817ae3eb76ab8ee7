// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/worker_recovery.h"

#include <algorithm>

#include "core/application/supervisor_link/input_refusal.h"
#include "core/base/status_macros.h"
#include "core/control/exit_report.h"

namespace bulkhead::session {
namespace {

Crash::Request::Kind RequestOf(SessionEvent asked) {
  switch (asked) {
    case SessionEvent::kIndexAsked:
      return Crash::Request::Kind::kScan;
    case SessionEvent::kFrameAsked:
      return Crash::Request::Kind::kNext;
    case SessionEvent::kPlaceAsked:
      return Crash::Request::Kind::kFrameAt;
    default:
      return Crash::Request::Kind::kOpen;
  }
}

}  // namespace

WorkerRecovery::WorkerRecovery(std::shared_ptr<SupervisorLink> supervisor,
                               const MediaInput& input, Settings settings,
                               Client& client)
    : supervisor_(std::move(supervisor)),
      input_(input),
      settings_(std::move(settings)),
      client_(client),
      counter_(supervisor_->CountSession()) {}

Status WorkerRecovery::Ready(SessionEvent asked) {
  asked_ = asked;
  if (!link_) RETURN_IF_ERROR(StartWorker());
  Raise(asked);
  return CheckPoisoned();
}

Status WorkerRecovery::Failed(const Status& failure) {
  const bool died =
      link_ ? link_->dead() : failure.code() == Code::kBackendLost;
  if (!died) {
    if (link_ && link_->spent()) DropWorker();
    // Without a death here, a report is that of an earlier one.
    Raise(failure.exit_report() ? SessionEvent::kPoisoned
                                : SessionEvent::kRefused);
    EndEpisode(CodeName(failure.code()));
    return failure.WithContext(input_.name());
  }
  const Status given_up = AccountDeath(failure);
  if (!given_up.ok()) EndEpisode(CodeName(given_up.code()));
  return given_up;
}

void WorkerRecovery::Recovered() {
  if (!episode_) return;
  const auto took = std::chrono::steady_clock::now() - episode_->began;
  Recovery recovery{
      .path = input_.name(),
      .device = device_,
      .cause = std::move(episode_->last),
      .attempts = episode_->deaths,
      .took = std::chrono::duration_cast<std::chrono::microseconds>(took)};
  EndEpisode("recovered");
  if (settings_.observer) settings_.observer(recovery);
}

void WorkerRecovery::EndEpisode(const std::string& outcome) {
  if (episode_ && !episode_->crashes.empty()) {
    supervisor_->TellOutcome(episode_->crashes, outcome);
  }
  episode_.reset();
}

ObservedExit WorkerRecovery::DescribeStep() const {
  ObservedExit seen{.position = position(),
                    .position_text = PositionText(),
                    .attempt = blamed_deaths_ + innocent_deaths_ + 1,
                    .input = input_.Identify(),
                    .request = settings_.request};
  seen.request.kind = RequestOf(asked_);
  seen.request.frame = wanted_;
  return seen;
}

Status WorkerRecovery::StartWorker() {
  ASSIGN_OR_RETURN(
      link_, WorkerLink::Start(
                 supervisor_, {.device = settings_.device,
                               .audio = settings_.audio,
                               .alone = stats_.restarts > 0,
                               .input = settings_.input_key,
                               .path = input_.name(),
                               .counter = counter_.place(),
                               .worker_bytes = settings_.limits.worker_bytes}));
  device_ = link_->started().device;
  Status opened = link_->Attach(input_);
  if (opened.ok()) {
    stats_.worker_start = link_->start_time();
    opened = client_.OpenOn(*link_, ++incarnation_);
  }
  if (opened.ok()) Raise(SessionEvent::kOpened);
  // A living worker without a stream is of no use; a dead one is still to be
  // asked how it ended.
  if (!opened.ok() && !link_->dead()) DropWorker();
  return opened;
}

void WorkerRecovery::DropWorker() {
  client_.WorkerLost(link_->End());
  link_.reset();
}

Status WorkerRecovery::CheckPoisoned() const {
  const auto& poisoned = link_->started().poisoned;
  const auto here = std::find_if(
      poisoned.begin(), poisoned.end(),
      [this](const auto& known) { return known.position == position(); });
  return here == poisoned.end()
             ? Status()
             : RefusalOf(*here, unit(), link_->started().device);
}

Status WorkerRecovery::AccountDeath(const Status& death) {
  if (!episode_) episode_ = Episode{.began = std::chrono::steady_clock::now()};
  ExitVerdict exit;
  if (link_) exit = link_->TakeExit(DescribeStep());
  exit.report.position = PositionText();
  ++episode_->deaths;
  episode_->last = exit.report;
  if (exit.report.crash) episode_->crashes.push_back(exit.report.crash);
  ++stats_.restarts;
  counter_.AddRestart();
  stats_.last_cause = link_ ? DescribeExit(exit.report) : death.message();
  if (link_) DropWorker();
  exit.blamed ? ++blamed_deaths_ : ++innocent_deaths_;

  const Status given_up = GiveUp(death, exit);
  if (death.code() == Code::kBackendMisbehaved) {
    Raise(SessionEvent::kProtocolViolation);
  } else if (!given_up.ok()) {
    Raise(SessionEvent::kGivenUp);
  } else if (death.code() == Code::kDeadlineExceeded) {
    Raise(SessionEvent::kDeadline);
  } else {
    Raise(SessionEvent::kWorkerDied);
  }
  return given_up;
}

Status WorkerRecovery::GiveUp(const Status& death,
                              const ExitVerdict& exit) const {
  ExitReport report = exit.report;
  const std::string what =
      death.message() + " at " + report.position + ": " + stats_.last_cause;
  const std::string see = SeeCrash(report.crash);
  if (death.code() == Code::kBackendMisbehaved) {
    return Status(death.code(), what + see, std::move(report));
  }
  const uint32_t attempts = std::max(blamed_deaths_, exit.deaths_here);
  if (attempts >= settings_.limits.attempts_per_position) {
    Code code = Code::kPoisonedInput;
    const char* advice = "skip this file or try another backend";
    if (report.kind == ExitReport::Kind::kDeadline) {
      code = Code::kDeadlineExceeded;
      advice = "raise that deadline or skip the file";
    } else if (exit.device_to_blame) {
      code = Code::kBackendLost;
      advice = "its device was lost: retry later or use another";
    } else if (!exit.input_to_blame) {
      code = Code::kBackendLost;
      advice = "try another backend";
    }
    return Status(code,
                  what + "; given up after " + std::to_string(attempts) +
                      " attempts, " + advice + see,
                  std::move(report));
  }
  if (innocent_deaths_ > settings_.limits.restarts_per_position) {
    return Status(Code::kBackendLost,
                  what + "; given up after " +
                      std::to_string(innocent_deaths_) + " restarts, retry" +
                      see,
                  std::move(report));
  }
  return Status();
}

void WorkerRecovery::Acquit() {
  if (blamed_deaths_ == 0) return;
  supervisor_->FrameDelivered(link_->started(), position());
}

void WorkerRecovery::Progressed() {
  counter_.AddFrame();
  Acquit();
  Raise(SessionEvent::kFrame);
  blamed_deaths_ = 0;
  innocent_deaths_ = 0;
}

InputPosition WorkerRecovery::position() const {
  using Step = InputPosition::Step;
  switch (state_) {
    case SessionState::kOpening:
    case SessionState::kReplaying:
    case SessionState::kFailed:
      return {Step::kOpening};
    case SessionState::kScanning:
      return {Step::kScanning};
    case SessionState::kSeeking:
    case SessionState::kStreaming:
    case SessionState::kEnded:
      break;
  }
  return {Step::kFrame, wanted_};
}

const char* WorkerRecovery::unit() const {
  return settings_.audio ? "sample" : "frame";
}

std::string WorkerRecovery::PositionText() const {
  return input_.name() + ", " + Describe(position(), unit());
}

}  // namespace bulkhead::session
