// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/exit_judge.h"

#include <string>
#include <utility>

#include "core/control/exit_report.h"
#include "core/supervisor/backend/trials.h"
#include "core/supervisor/blame/blame.h"

namespace bulkhead::backend {
namespace {

using std::chrono::milliseconds;

// Combines how the process ended with why the host ended it, if it did.
ExitReport ReportOf(const ExitJudge::ReportedExit& reported,
                    const blame::ProcessExit& exit) {
  ExitReport report = blame::ToReport(exit);
  AddClaim(reported.facts.claim, report);
  switch (reported.observed) {
    case blame::HostObservation::kMissedDeadline:
    case blame::HostObservation::kFoundStopped:
      report.kind = ExitReport::Kind::kDeadline;
      break;
    case blame::HostObservation::kBrokeProtocol:
      report.kind = ExitReport::Kind::kProtocolViolation;
      break;
    case blame::HostObservation::kDied:
      break;
  }
  return report;
}

}  // namespace

kj::Promise<ExitJudge::JudgedExit> ExitJudge::Judge(
    const ReportedExit& reported, milliseconds timeout) {
  return workers_.AwaitEnd(reported.id, timeout)
      .then([this, reported](blame::ProcessExit exit) {
        exit.says_device_lost = reported.facts.claim.device_lost;
        exit.says_backend_failed = reported.facts.claim.backend_failed;
        return Investigate(reported, std::move(exit));
      })
      .then([this, reported](const blame::ProcessExit& exit) {
        return Count(reported, exit);
      });
}

kj::Promise<blame::ProcessExit> ExitJudge::Investigate(
    const ReportedExit& reported, blame::ProcessExit exit) {
  if (exit.took_all_tasks) return exit;
  return workers_.MakeRoomForTasks().then(
      [this, reported, exit = std::move(exit)](
          Workers::Tasks tasks) mutable -> kj::Promise<blame::ProcessExit> {
        exit.lacked_tasks |= tasks != Workers::Tasks::kEnough;
        return CheckDevice(reported, std::move(exit));
      });
}

kj::Promise<blame::ProcessExit> ExitJudge::CheckDevice(
    const ReportedExit& reported, blame::ProcessExit exit) {
  const records::SessionBook::Session* session = book_.Find(reported.id);
  // A check starts the backend once more. So it is made only if its result
  // matters: if a lost device would be the culprit.
  blame::ProcessExit if_lost = exit;
  if_lost.device_found_lost = true;
  if (!session ||
      blame::CulpritOf(if_lost, reported.observed, reported.met_media) !=
          blame::Culprit::kDevice) {
    return exit;
  }
  return lifecycle_.trials()
      .CheckDevice(session->device, session->opened)
      .then([exit = std::move(exit)](Trials::DeviceFate fate) mutable {
        exit.device_found_lost = fate.lost;
        exit.device_lost_by_others = fate.together;
        return std::move(exit);
      });
}

ExitJudge::JudgedExit ExitJudge::Count(const ReportedExit& reported,
                                       const blame::ProcessExit& exit) {
  JudgedExit verdict{.report = ReportOf(reported, exit),
                     .lacked_tasks = exit.lacked_tasks};
  blame::WorkerDeath death{.exit = exit,
                           .observed = reported.observed,
                           .met_media = reported.met_media,
                           .position = reported.position};
  const records::SessionBook::Session* session = book_.Find(reported.id);
  if (session) {
    death.input = session->origin.input;
    death.device = session->device;
    death.opened = session->opened;
  }
  // Frames that sessions got before this death acquit the backend, so they are
  // counted first.
  AcquitByFrames();
  blame::Blame& blame = lifecycle_.blame();
  // A session that was closed while its worker's end was awaited has no input
  // and no device to blame any more.
  verdict.culprit =
      session ? blame.Attribute(death)
              : blame::CulpritOf(exit, reported.observed, reported.met_media);
  // The crash is recorded after Attribute(), since the record names the
  // culprit, and before Count(), since sessions that are refused later get the
  // number of the record.
  const std::string more = Record(reported, exit, verdict);
  ++worker_ends_;
  if (!exit.told) {
    const WorkerEnd end =
        records::WorkerEndOf(exit, reported.observed, verdict.culprit);
    ++counts_.worker_ends[static_cast<size_t>(end)];
  }
  book_.NoteWorkerEnd(reported.id, verdict.report, more, lifecycle_.Now());
  if (session || verdict.culprit == blame::Culprit::kBackend) {
    const size_t refused = blame.Refused(death.input).size();
    verdict.deaths_here = blame.Count(death, verdict.culprit, verdict.report);
    if (blame.Refused(death.input).size() > refused) ++counts_.poisoned_inputs;
  }
  return verdict;
}

std::string ExitJudge::Record(const ReportedExit& reported,
                              const blame::ProcessExit& exit,
                              JudgedExit& verdict) {
  std::string more;
  records::SessionFacts facts = reported.facts;
  if (exit.took_all_tasks) {
    facts.cause =
        "it had more than its share of the backend's tasks, and "
        "others had none";
    more = "; " + facts.cause;
  }
  if (reported.observed == blame::HostObservation::kFoundStopped) {
    more = "; another process had stopped it";
  }
  if (!records::CrashRecorder::IsWorthy(exit, verdict.culprit)) return more;
  records::EndedBackend ended =
      lifecycle_.incarnations().Ended(workers_.IncarnationOf(reported.id));
  ended.worker_log = workers_.LogOf(reported.id);
  verdict.report.crash =
      crashes_.RecordWorker(ended, facts, verdict.culprit, verdict.report);
  if (verdict.report.crash == 0) more += crashes_.See(0);  // why no record
  return more;
}

void ExitJudge::AcquitByFrames() {
  for (const records::SessionBook::Source& source : book_.TakeNewFrames()) {
    lifecycle_.blame().NoteFrame(source.device, source.input);
  }
}

}  // namespace bulkhead::backend
