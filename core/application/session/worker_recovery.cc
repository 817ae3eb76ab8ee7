// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/worker_recovery.h"

#include <signal.h>

#include <algorithm>

#include "core/application/session/device_vetting.h"
#include "core/application/supervisor_link/input_refusal.h"
#include "core/base/application_limits.h"
#include "core/base/status_macros.h"
#include "core/control/exit_report.h"
#include "core/crashes/crash_store.h"
#include "core/worker_protocol/step_deadline.h"
#include "ipc/limit_name.h"

namespace bulkhead::session {

WorkerRecovery::WorkerRecovery(
    std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
    const worker_link::MediaInput& input, Settings settings, Client& client)
    : supervisor_(std::move(supervisor)),
      process_(supervisor_->process()),
      input_(input),
      settings_(std::move(settings)),
      cancel_(settings_.cancel),
      client_(client),
      counting_(supervisor_->CountSession()),
      counter_(counting_.counter()),
      account_(settings_.limits),
      call_began_(std::chrono::steady_clock::now()) {}

Status WorkerRecovery::BeginCall() {
  call_began_ = std::chrono::steady_clock::now();
  if (process_.forked()) return supervisor_link::ForkedError();
  return cancel_->Take()
             ? supervisor_link::Cancelled().WithContext(input_.name())
             : Status();
}

Status WorkerRecovery::Open() {
  Status opened = Run(Step::kOpen, [] { return Status(); });
  // Before a worker was met, nobody knows what the input is.
  return vetted_ && settings_.vetting
             ? settings_.vetting->Explain(std::move(opened))
             : opened;
}

Status WorkerRecovery::Ready(Step asked) {
  awaited_.asked = asked;
  // Between the attempts of a call too, whose waits may all be short.
  if (cancel_->Take()) return supervisor_link::Cancelled();
  if (!link_) RETURN_IF_ERROR(StartWorker());
  return CheckPoisoned();
}

Status WorkerRecovery::Failed(const Status& failure) {
  // Without a link, the failure came from starting a worker. kBackendLost then
  // means that bulkheadd died, and the worker with bulkheadd.
  const bool died =
      link_ ? link_->dead() : failure.code() == Code::kBackendLost;
  if (!died && link_ && link_->spent()) DropWorker();
  const Status end = died ? AccountDeath(failure)
                          : NamingLimits(failure).WithContext(input_.name());
  if (end.ok() || GoOnElsewhere(end)) return Status();
  EndEpisode(CodeName(end.code()));
  const bool of_this_device = end.code() != Code::kCancelled &&
                              (!told_failover_ || IsFailureOfBackend(end));
  if (!stats_.failover || !of_this_device) return end;
  const Status both = WithFirstCause(end, *stats_.failover);
  if (!told_both_failed_) {
    told_both_failed_ = true;
    supervisor_->TellFailedFailover(
        stats_.failover->from,
        std::string("a stream failed on both devices: ") +
            CodeName(both.code()) + ": " + both.message());
  }
  return both;
}

bool WorkerRecovery::GoOnElsewhere(const Status& failure) {
  const std::shared_ptr<const Settings> elsewhere = settings_.elsewhere;
  if (!elsewhere || !IsFailureOfBackend(failure)) return false;
  if (!episode_) episode_ = Episode{.began = std::chrono::steady_clock::now()};
  if (link_) DropWorker();
  lost_.reset();
  stats_.failover = {.from = device_.empty() ? settings_.device : device_,
                     .to = elsewhere->device,
                     .frame = awaited_.frame(),
                     .proof = progressed_ ? Failover::Proof::kNone
                                          : Failover::Proof::kNothingBefore,
                     .cause = failure};
  stats_.failover->text = Describe(*stats_.failover, unit());
  settings_.device = elsewhere->device;
  settings_.input_key = elsewhere->input_key;
  settings_.request = elsewhere->request;
  settings_.vetting = elsewhere->vetting;
  settings_.elsewhere = nullptr;
  vetted_ = false;
  // The other device has attempts and time of its own.
  account_.Progressed();
  call_began_ = std::chrono::steady_clock::now();
  client_.DeviceChanged();
  return true;
}

void WorkerRecovery::Compared(const std::optional<Comparison>& comparison) {
  if (!comparison || !stats_.failover) return;
  if (!comparison->same) {
    stats_.failover->proof = Failover::Proof::kDifferent;
  } else if (stats_.failover->proof != Failover::Proof::kDifferent) {
    stats_.failover->proof = Failover::Proof::kSame;
  }
  stats_.failover->compared += comparison->frames;
  stats_.failover->text = Describe(*stats_.failover, unit());
}

void WorkerRecovery::Recovered() {
  const bool moved = stats_.failover && !told_failover_;
  if (!episode_ && moved) {
    // The call that changed the device was cancelled or failed.
    episode_ = Episode{.began = std::chrono::steady_clock::now()};
  }
  if (!episode_) return;
  const auto took = std::chrono::steady_clock::now() - episode_->began;
  Recovery recovery{
      .path = input_.name(),
      .device = device_,
      .cause = std::move(episode_->last),
      .attempts = episode_->deaths,
      .took = std::chrono::duration_cast<std::chrono::microseconds>(took)};
  // The observer is called last, since it may call the library.
  if (moved) {
    told_failover_ = true;
    stats_.failover->to = device_;
    stats_.failover->text = Describe(*stats_.failover, unit());
    recovery.failover = stats_.failover;
    if (link_) {
      supervisor_->TellFailover(link_->started(), stats_.failover->from,
                                input_.name() + ": " + stats_.failover->text);
    }
  }
  EndEpisode("recovered");
  if (settings_.observer) settings_.observer(recovery);
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
                                     .request = settings_.request};
  seen.request.kind = awaited_.asked;
  seen.request.frame = awaited_.frame();
  return seen;
}

Status WorkerRecovery::StartWorker() {
  supervisor_link::SessionRequest request{
      .device = settings_.device,
      .audio = settings_.request.audio,
      .alone = stats_.restarts > 0,
      .input = settings_.input_key,
      .path = input_.name(),
      .counter = counting_.place(),
      .worker_bytes = settings_.limits.worker_bytes,
      .session_bytes = settings_.limits.session_bytes};
  if (!vetted_ && settings_.vetting) {
    request.vet = [this](const std::string& describer) {
      return settings_.vetting->Vet(describer);
    };
  }
  const std::unique_ptr<worker_link::WorkerLink> lost = std::move(lost_);
  // A version on which a worker died and delivered nothing is not preferred.
  if (lost && delivered_) {
    request.continues = lost->started().session;
    request.continues_generation = lost->started().generation;
  }
  delivered_ = false;
  ASSIGN_OR_RETURN(
      link_, worker_link::WorkerLink::Start(supervisor_, std::move(request),
                                            input_, cancel_));
  // Keeps the device for the observer, which may be called after the link is
  // gone.
  device_ = link_->started().device;
  Status opened = link_->CheckAttached();
  if (opened.ok()) {
    stats_.worker_start = link_->start_time();
    vetted_ = true;
    const auto same = client_.OpenOn(*link_, ++incarnation_);
    if (!same) opened = same.error();
    if (same && !*same) {
      opened = Status(
          Code::kBadInput,
          "it was opened again in a new worker and has another stream now "
          "(another size, codec or index): the file was changed meanwhile; "
          "open it again from the start");
    }
  }
  awaited_.opened = opened.ok();
  // A living worker without a stream is of no use. The link to a dead one is
  // kept until AccountDeath() has asked how the worker ended.
  if (!opened.ok() && !link_->dead()) DropWorker();
  return opened;
}

void WorkerRecovery::DropWorker() {
  client_.WorkerLost(/*kept=*/false);
  link_.reset();
  awaited_.opened = false;
}

Status WorkerRecovery::CheckPoisoned() const {
  const auto& poisoned = link_->started().poisoned;
  const auto here =
      std::find_if(poisoned.begin(), poisoned.end(), [this](const auto& known) {
        return known.position == awaited_.position();
      });
  return here == poisoned.end() ? Status()
                                : supervisor_link::RefusalOf(
                                      *here, unit(), link_->started().device);
}

Status WorkerRecovery::AccountDeath(const Status& death) {
  if (!episode_) episode_ = Episode{.began = std::chrono::steady_clock::now()};
  supervisor_link::ExitVerdict verdict;
  if (link_) verdict = link_->TakeExit(DescribeStep());
  ExitReport& report = verdict.report;
  report.position = PositionText();
  ++episode_->deaths;
  episode_->last = report;
  if (report.crash) episode_->crashes.push_back(report.crash);
  ++stats_.restarts;
  counter_.restarts.fetch_add(1, std::memory_order_relaxed);
  if (!link_) {
    stats_.last_cause = death.message();
  } else if (report.kind == ExitReport::Kind::kUnknown &&
             !supervisor_->StillServes(link_->started())) {
    stats_.last_cause = "bulkheadd ended or hung and was replaced";
  } else {
    stats_.last_cause = DescribeExit(report);
  }
  const std::string end = link_ ? ": " + stats_.last_cause : "";
  // Drops the worker last, because the position becomes "opening" without a
  // worker.
  if (link_) {
    client_.WorkerLost(link_->End());
    lost_ = std::move(link_);
    awaited_.opened = false;
  }

  const bool overdue = (std::chrono::steady_clock::now() - call_began_) /
                           worker_protocol::StepDeadline::kMostTimeouts >
                       supervisor_->deadlines().frame;
  const auto given_up =
      account_.Count(awaited_, death.code(), verdict, overdue);
  if (!given_up) return Status();
  lost_.reset();
  std::string message = death.message() + " at " + report.position + end;
  if (!given_up->reason.empty()) message += "; " + given_up->reason;
  if (const std::string low = LowLimits(); !low.empty()) {
    message += "; if it lacked something, " + RaiseTheLimits(low);
  }
  // Many programs abort where memory is short.
  const uint64_t allowed = settings_.limits.worker_bytes;
  if (report.kind == ExitReport::Kind::kSignaled && report.value == SIGABRT &&
      allowed < Limits().worker_bytes) {
    message += "; if it lacked memory, of which it may have " +
               std::to_string(allowed) + " bytes, raise " +
               ipc::LimitName("worker_bytes");
  }
  message += SeeCrash(report.crash);
  if (verdict.blamed && report.crash == 0 &&
      !supervisor_->state_directory().empty()) {
    const Status kept =
        crashes::CrashStore(supervisor_->state_directory()).CheckKeeps();
    message += "; no record of it could be kept" +
               (kept.ok() ? " in " + supervisor_->state_directory() +
                                ", `bulkhead events` says why"
                          : ": " + kept.message());
  }
  return Status(given_up->code, std::move(message), std::move(report));
}

void WorkerRecovery::Acquit() {
  if (!any_died() || !account_.blamed()) return;
  supervisor_->FrameDelivered(link_->started(), awaited_.position());
}

void WorkerRecovery::Progressed() {
  counter_.frames.fetch_add(1, std::memory_order_relaxed);
  Acquit();
  if (any_died()) account_.Progressed();
  delivered_ = true;
  progressed_ = true;
}

const char* WorkerRecovery::unit() const {
  return settings_.request.audio ? "sample" : "frame";
}

std::string WorkerRecovery::PositionText() const {
  return input_.name() + ", " +
         supervisor_link::Describe(awaited_.position(), unit());
}

}  // namespace bulkhead::session
