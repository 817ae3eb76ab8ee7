// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/worker_recovery.h"

#include "core/application/session/death_words.h"
#include "core/application/supervisor_link/input_refusal.h"
#include "core/base/application_limits.h"
#include "core/base/status_macros.h"
#include "core/worker_protocol/step_deadline.h"

namespace bulkhead::session {

WorkerRecovery::WorkerRecovery(
    std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
    const worker_link::MediaInput& input, Settings settings, Client& client)
    : supervisor_(std::move(supervisor)),
      process_(supervisor_->process()),
      input_(input),
      observer_(std::move(settings.observer)),
      limits_(settings.limits),
      cancel_(std::move(settings.cancel)),
      unit_(settings.device.request.audio ? "sample" : "frame"),
      counting_(supervisor_->CountSession()),
      counter_(counting_.counter()),
      account_(limits_),
      elsewhere_(std::move(settings.elsewhere)),
      worker_(supervisor_, input_, std::move(settings.device), limits_, cancel_,
              counting_.place(), client),
      call_began_(std::chrono::steady_clock::now()),
      failover_(*supervisor_, unit_, stats_.failover) {}

Status WorkerRecovery::BeginCall() {
  call_began_ = std::chrono::steady_clock::now();
  if (process_.forked()) return supervisor_link::ForkedError();
  return cancel_->Take()
             ? supervisor_link::Cancelled().WithContext(input_.name())
             : Status();
}

Status WorkerRecovery::Open() {
  return worker_.Explain(Run(Step::kOpen, [] { return Status(); }));
}

Status WorkerRecovery::Ready(Step asked) {
  awaited_.asked = asked;
  // The waits check the cancel signal too, but each may be too short to see it.
  // So it is also checked here, before each attempt.
  if (cancel_->Take()) return supervisor_link::Cancelled();
  if (!awaited_.opened) {
    const Status started = worker_.Start(
        /*alone=*/any_died(), /*delivered=*/std::exchange(delivered_, false));
    stats_.worker_start = worker_.start_time();
    RETURN_IF_ERROR(started);
    awaited_.opened = true;
    poisoned_ = !worker_.link()->started().poisoned.empty();
  }
  return poisoned_ ? worker_.CheckAccepts(awaited_.position(), unit_)
                   : Status();
}

Status WorkerRecovery::Failed(const Status& failure) {
  worker_link::WorkerLink* const link = worker_.link();
  // Without a link, the worker could not be started. kBackendLost then means
  // that bulkheadd died, and the worker with it.
  const bool died = link ? link->dead() : failure.code() == Code::kBackendLost;
  if (!died && link && link->spent()) DropWorker();
  const Status end = died ? AccountDeath(failure)
                          : NamingLimits(failure).WithContext(input_.name());
  if (end.ok() || GoOnElsewhere(end)) return Status();
  EndEpisode(CodeName(end.code()));
  return failover_.WithFirstCause(end);
}

bool WorkerRecovery::GoOnElsewhere(const Status& failure) {
  if (!elsewhere_ || !IsFailureOfBackend(failure)) return false;
  BeginEpisode();
  failover_.Begin({.from = worker_.device(),
                   .to = elsewhere_->device,
                   .frame = awaited_.frame(),
                   .proof = progressed_ ? Failover::Proof::kNone
                                        : Failover::Proof::kNothingBefore,
                   .cause = failure});
  worker_.MoveTo(*std::exchange(elsewhere_, std::nullopt));
  awaited_.opened = false;
  // The other device gets all attempts and the whole time again.
  account_.Progressed();
  call_began_ = std::chrono::steady_clock::now();
  return true;
}

WorkerRecovery::Episode& WorkerRecovery::BeginEpisode() {
  if (!episode_) episode_ = Episode{};
  return *episode_;
}

void WorkerRecovery::Recovered() {
  const bool moved = stats_.failover && failover_.unconfirmed();
  if (!episode_ && !moved) return;
  // There is no episode if no worker died in this call, but an earlier call
  // changed the device and was then cancelled or failed. Then a new, empty one
  // carries the report.
  Episode& episode = BeginEpisode();
  const auto took = std::chrono::steady_clock::now() - episode.began;
  Recovery recovery{
      .path = input_.name(),
      .device = worker_.device(),
      .cause = std::move(episode.last),
      .attempts = episode.deaths,
      .took = std::chrono::duration_cast<std::chrono::microseconds>(took)};
  if (moved) {
    failover_.Confirm(worker_, input_.name());
    recovery.failover = stats_.failover;
  }
  EndEpisode("recovered");
  // The observer comes last, since it may call the library.
  if (observer_) observer_(recovery);
}

void WorkerRecovery::EndEpisode(const std::string& outcome) {
  if (episode_ && !episode_->crashes.empty()) {
    supervisor_->TellOutcome(episode_->crashes, outcome);
  }
  episode_.reset();
}

supervisor_link::ObservedExit WorkerRecovery::DescribeStep() const {
  supervisor_link::ObservedExit seen{.position = awaited_.position(),
                                     .position_text = PositionText(),
                                     .attempt = account_.attempt(),
                                     .input = input_.Identify(),
                                     .request = worker_.choice().request};
  seen.request.kind = awaited_.asked;
  seen.request.frame = awaited_.frame();
  return seen;
}

void WorkerRecovery::DropWorker() {
  worker_.Drop();
  awaited_.opened = false;
}

Status WorkerRecovery::AccountDeath(const Status& death) {
  Episode& episode = BeginEpisode();
  worker_link::WorkerLink* const link = worker_.link();
  supervisor_link::ExitVerdict verdict;
  if (link) verdict = link->TakeExit(DescribeStep());
  ExitReport& report = verdict.report;
  report.position = PositionText();
  ++episode.deaths;
  episode.last = report;
  if (report.crash) episode.crashes.push_back(report.crash);
  ++stats_.restarts;
  counter_.restarts.fetch_add(1, std::memory_order_relaxed);
  stats_.last_cause = worker_.DescribeCause(death, report);
  std::string text = death.message() + " at " + report.position;
  if (link) {
    text += ": " + stats_.last_cause;
    // From here on the position is "opening", because no worker has the stream
    // open. So DescribeStep() and PositionText() were called before.
    worker_.SetAside();
    awaited_.opened = false;
  }

  const bool overdue = (std::chrono::steady_clock::now() - call_began_) /
                           worker_protocol::StepDeadline::kMostTimeouts >
                       supervisor_->deadlines().frame;
  const auto given_up =
      account_.Count(awaited_, death.code(), verdict, overdue);
  if (!given_up) return Status();
  worker_.CloseLost();
  return GivenUpError(*given_up, std::move(text), verdict, limits_.worker_bytes,
                      supervisor_->state_directory());
}

void WorkerRecovery::Acquit() {
  if (!any_died() || !account_.blamed()) return;
  supervisor_->sessions().FrameDelivered(worker_.link()->started(),
                                         awaited_.position());
}

void WorkerRecovery::Progressed() {
  counter_.frames.fetch_add(1, std::memory_order_relaxed);
  Acquit();
  if (any_died()) account_.Progressed();
  delivered_ = progressed_ = true;
}

std::string WorkerRecovery::PositionText() const {
  return input_.name() + ", " +
         supervisor_link::Describe(awaited_.position(), unit_);
}

}  // namespace bulkhead::session
