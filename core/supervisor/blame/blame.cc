// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/blame/blame.h"

#include <algorithm>
#include <utility>

#include "core/control/exit_report.h"

namespace bulkhead::blame {

Blame::Blame(BlameSubject& subject, const BlameLimits& limits,
             QuarantineRecords& records, const RestartPolicy::Random& random)
    : subject_(subject),
      records_(records),
      policy_(limits.restarts, random),
      inputs_(limits.attempts_per_position),
      losses_([restarts = limits.restarts, random] {
        return RestartPolicy(restarts, random);
      }) {}

Culprit Blame::Attribute(const WorkerDeath& death) {
  const Culprit culprit =
      CulpritOf(death.exit, death.observed, death.met_media);
  if (culprit != Culprit::kInput && culprit != Culprit::kBreach) {
    return culprit;
  }
  if (suspects_.convicted()) return Culprit::kBackend;
  // The input that leads to the trial is blamed for this death all the same;
  // a conviction forgives all inputs.
  if (suspects_.Died(death.input)) BeginTrial();
  return culprit;
}

uint32_t Blame::Count(const WorkerDeath& death, Culprit culprit,
                      const ExitReport& report) {
  switch (culprit) {
    case Culprit::kInput:
      return inputs_.Died(death.input, death.position, report, subject_.Now());
    case Culprit::kDevice:
      losses_.Lost(death.device, death.input, death.opened, subject_.Now());
      return 0;
    case Culprit::kBackend:
      if (death.observed == HostObservation::kBrokeProtocol) {
        CountFailure(culprit, Code::kBackendMisbehaved,
                     "a worker broke the protocol" + SeeCrash(report.crash));
      } else {
        CountFailure(culprit, Code::kBackendUnavailable,
                     (death.met_media
                          ? "its workers die of any media: "
                          : "a worker died before it was given any media: ") +
                         DescribeExit(report));
      }
      return 0;
    case Culprit::kBreach:
    case Culprit::kStart:
    case Culprit::kNobody:
      break;
  }
  return 0;
}

void Blame::CountFailure(Culprit culprit, Code code, const std::string& why) {
  if (policy_.Failed(culprit, subject_.Now()) ==
          RestartPolicy::Verdict::kQuarantine &&
      !subject_.ProvesNothingElsewhere()) {
    subject_.Quarantine(code, why);
  }
}

void Blame::NoteFrame(const std::string& device, const std::string& input) {
  suspects_.Acquit();
  losses_.Delivered(device, input);
}

std::chrono::nanoseconds Blame::BackoffLeft() const {
  const Time now = subject_.Now();
  // The difference would overflow for a policy that never failed.
  if (!policy_.backs_off(now)) return std::chrono::nanoseconds(0);
  return policy_.retry_at() - now;
}

kj::Promise<Status> Blame::CheckTwice() {
  return subject_.CheckHealth().then(
      [this](Status status) -> kj::Promise<Status> {
        // Others may have killed the worker of a single check.
        if (status.ok()) return status;
        return subject_.CheckHealth();
      });
}

bool Blame::Convicts(const Status& checked) const {
  // A check of a backend that is going away fails and proves nothing.
  return !checked.ok() && !ProvesNothing(checked) && subject_.CanBeTried();
}

kj::Promise<Blame::Trial> Blame::Try(const std::string& charge) {
  return CheckTwice().then([this, charge](const Status& status) {
    if (status.ok()) return Trial{.held = true, .failure = {}};
    if (!Convicts(status)) return Trial{.held = false, .failure = status};
    CountFailure(Culprit::kBackend, Code::kBackendUnavailable,
                 charge + ", and " + status.message());
    return Trial{.held = true, .failure = status};
  });
}

void Blame::BeginTrial() {
  trial_ = CheckTwice()
               .then([this](Status status) {
                 suspects_.Judge(!Convicts(status));
                 if (!suspects_.convicted()) return;
                 inputs_.Forget();
                 CountFailure(Culprit::kBackend, Code::kBackendUnavailable,
                              "its workers died of " +
                                  std::to_string(Suspects::kTooMany) +
                                  " different inputs, one after another, and " +
                                  status.message());
               })
               .eagerlyEvaluate(nullptr);
}

void Blame::RecordQuarantine(Code code, const std::string& why) {
  if (recorded_) return;
  QuarantineRecord record = subject_.DescribeObject();
  record.libraries_ns = LibrariesChangedNs();
  record.code = code;
  record.reason = why;
  recording_ = WriteRecord(std::move(record)).eagerlyEvaluate(nullptr);
}

kj::Promise<void> Blame::WriteRecord(QuarantineRecord record) {
  return subject_.HashObject().then(
      [this, record = std::move(record)](Result<std::string> hash) mutable {
        // If the files have changed meanwhile there is nothing to record.
        if (!hash) return;
        record.hash = *std::move(hash);
        // Without a directory Add() succeeds and keeps nothing. Then the
        // quarantine must not end because its record is absent.
        recorded_ = records_.Add(record).ok() && records_.Find(record.path);
      });
}

bool Blame::QuarantineIsOver() const {
  if (!recorded_) return false;
  const auto record = records_.Find(subject_.DescribeObject().path);
  return !record || record->libraries_ns != LibrariesChangedNs();
}

void Blame::Forgive() {
  // Cancels a hash that is under way, which would write the record again.
  recording_ = kj::READY_NOW;
  // If the record cannot be removed, the next start compares it again.
  (void)records_.Lift(subject_.DescribeObject().path);
  recorded_ = false;
  policy_.Forget();
  inputs_.Forget();
  suspects_.Acquit();
  losses_.Forget();
}

}  // namespace bulkhead::blame
