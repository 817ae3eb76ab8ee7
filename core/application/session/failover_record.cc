// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/failover_record.h"

#include <string_view>
#include <utility>

namespace bulkhead::session {
namespace {

std::string InWords(const Failover& failover, std::string_view unit) {
  const std::string units = std::string(unit) + "s";
  switch (failover.proof) {
    case Failover::Proof::kNothingBefore:
      return "nothing was delivered before";
    case Failover::Proof::kSame:
      return "of the " + units + " delivered before, " +
             std::to_string(failover.compared) +
             (failover.compared == 1 ? " was compared and is the same there"
                                     : " were compared and are the same there");
    case Failover::Proof::kDifferent:
      return "its " + units + " differ from those before";
    case Failover::Proof::kNone:
      break;
  }
  return "its " + units + " were not compared with those before";
}

// Returns the failover in one sentence; `unit` is "frame" or "sample".
std::string Describe(const Failover& failover, std::string_view unit) {
  return "device " + failover.from + " failed, so it goes on on " +
         failover.to + " at " + std::string(unit) + " " +
         std::to_string(failover.frame) + "; " + InWords(failover, unit) +
         "; the failure was " + CodeName(failover.cause.code()) + ": " +
         failover.cause.message();
}

}  // namespace

void FailoverRecord::Begin(Failover failover) {
  failover_ = std::move(failover);
  failover_->text = Describe(*failover_, unit_);
}

void FailoverRecord::Compared(const Comparison& comparison) {
  if (!comparison.same) {
    failover_->proof = Failover::Proof::kDifferent;
  } else if (failover_->proof != Failover::Proof::kDifferent) {
    failover_->proof = Failover::Proof::kSame;
  }
  failover_->compared += comparison.frames;
  failover_->text = Describe(*failover_, unit_);
}

void FailoverRecord::Confirm(const CurrentWorker& worker,
                             const std::string& input) {
  confirmed_ = true;
  failover_->to = worker.device();
  failover_->text = Describe(*failover_, unit_);
  if (!worker.link()) return;
  supervisor_.sessions().TellFailover(worker.link()->started(), failover_->from,
                                      input + ": " + failover_->text);
}

Status FailoverRecord::WithFirstCause(const Status& end) {
  const bool of_device = end.code() != Code::kCancelled &&
                         (!confirmed_ || IsFailureOfBackend(end));
  if (!failover_ || !of_device) return end;
  std::optional<ExitReport> report;
  if (end.exit_report() != nullptr) report = *end.exit_report();
  Status both(end.code(),
              end.message() + "; device " + failover_->to +
                  " is that of on_failure (--on-failure), because device " +
                  failover_->from + " failed: " + failover_->cause.message(),
              std::move(report));
  if (!std::exchange(told_both_failed_, true)) {
    supervisor_.TellFailedFailover(
        failover_->from, std::string("a stream failed on both devices: ") +
                             CodeName(both.code()) + ": " + both.message());
  }
  return both;
}

}  // namespace bulkhead::session
