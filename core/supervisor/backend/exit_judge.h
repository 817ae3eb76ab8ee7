// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "core/control/input_position.h"
#include "core/include/bulkhead/backend_counts.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/lifecycle.h"
#include "core/supervisor/backend/workers.h"
#include "core/supervisor/blame/culprit.h"
#include "core/supervisor/blame/process_exit.h"
#include "core/supervisor/records/crash_recorder.h"
#include "core/supervisor/records/session_book.h"
#include "core/supervisor/records/session_facts.h"

namespace bulkhead::backend {

// Judges how the workers of one backend's sessions ended: has Blame (blame.h)
// name the culprit of each end, records the crash, and has Blame count it.
//
// First finds out two things that the wait status does not show: whether the
// tasks of the backend are used up, and whether the session's device is lost.
//
// Owned by Backend. Bound to the event loop's thread. Trusts the reaper and the
// reports of the host (the application's library), but not what the worker
// claimed (SessionFacts::claim).
class ExitJudge {
 public:
  // The host's report about a session whose worker has ended.
  struct ReportedExit {
    uint64_t id;
    blame::HostObservation observed;
    bool met_media;  // true if the worker had been given the media
    InputPosition position;
    records::SessionFacts facts;
  };
  // The answer to the host's ReportedExit.
  struct JudgedExit {
    ExitReport report;
    blame::Culprit culprit = blame::Culprit::kNobody;
    // The number of deaths that the input has caused at the reported position.
    uint32_t deaths_here = 0;
    bool lacked_tasks = false;  // true if other workers had used up the tasks
  };

  // All references must outlive this object.
  ExitJudge(Lifecycle& lifecycle, Workers& workers, records::SessionBook& book,
            records::CrashRecorder& crashes, BackendCounts& counts)
      : lifecycle_(lifecycle),
        workers_(workers),
        book_(book),
        crashes_(crashes),
        counts_(counts) {}
  KJ_DISALLOW_COPY(ExitJudge);

  // Waits for the end of the session's worker, for at most `timeout`, decides
  // whose fault the end was, and counts it for the culprit. Call it once for
  // each session whose worker ended.
  kj::Promise<JudgedExit> Judge(const ReportedExit& reported,
                                std::chrono::milliseconds timeout);
  // Acquits the backend and its devices if sessions got frames since the last
  // call.
  void AcquitByFrames();

  // The number of workers that ended while they had a session.
  uint32_t worker_ends() const { return worker_ends_; }

 private:
  // Adds to `exit` two facts that the wait status does not show: whether the
  // tasks of the backend are used up, and whether the session's device is lost.
  kj::Promise<blame::ProcessExit> Investigate(const ReportedExit& reported,
                                              blame::ProcessExit exit);
  // Finds out whether the session's device is lost, and adds that to `exit`.
  // Does so only if the worker said so and the answer decides who is to blame.
  kj::Promise<blame::ProcessExit> CheckDevice(const ReportedExit& reported,
                                              blame::ProcessExit exit);
  // Names the culprit, records the crash, and counts it.
  JudgedExit Count(const ReportedExit& reported,
                   const blame::ProcessExit& exit);
  // Records the crash, if it is worth a record, and sets its number in
  // `verdict`. Returns words that explain the end further; may be empty.
  std::string Record(const ReportedExit& reported,
                     const blame::ProcessExit& exit, JudgedExit& verdict);

  Lifecycle& lifecycle_;
  Workers& workers_;
  records::SessionBook& book_;
  records::CrashRecorder& crashes_;
  BackendCounts& counts_;
  uint32_t worker_ends_ = 0;
};

}  // namespace bulkhead::backend
