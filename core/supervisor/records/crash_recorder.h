// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/crashes/crash_store.h"
#include "core/discovery/discover.h"
#include "core/include/bulkhead/crashes.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/supervisor/blame/culprit.h"
#include "core/supervisor/blame/process_exit.h"
#include "core/supervisor/records/log_tail.h"
#include "core/supervisor/records/session_facts.h"
#include "core/supervisor/sandbox/policy.h"

namespace bulkhead::records {

// The facts of a crash record about the backend whose process ended.
struct EndedBackend {
  const discovery::BackendCandidate& candidate;
  sandbox::Tier tier;
  uint32_t deadline_ms;  // the deadline of the backend's start
  // The number of the incarnation and its log. The log is null, and the number
  // not used, if the incarnation is gone.
  uint32_t life = 0;
  LogTail* log = nullptr;
  // The end of the zygote, if it has ended, as a report and in words.
  ExitReport zygote_report = {};
  std::string zygote_end = {};
  // The worker's own log; null if it wrote to the log of the incarnation.
  LogTail* worker_log = nullptr;
};

// Writes the crash records (core/crashes) of one application. Combines the
// facts that bulkheadd has about a backend with the facts that the host
// reports.
//
// Bounds the records of a storm of crashes: kAtOnce records, then one every
// kPause. Other crashes are counted; their number goes into the next record, or
// into the last one if none follows. The event loop waits while a record is
// written (2 ms measured under ten times the usual load), but not for the disk.
// A record that cannot be written is dropped; problem() says so to operators.
//
// Bound to the event loop's thread.
class CrashRecorder {
 public:
  static constexpr uint32_t kAtOnce = 32;
  static constexpr std::chrono::seconds kPause{2};
  using Time = std::chrono::steady_clock::time_point;

  // `state_directory` is empty if no records are wanted. `application` is the
  // application's pidfd, borrowed for the call.
  CrashRecorder(const std::string& state_directory, int application);
  ~CrashRecorder();
  CrashRecorder(const CrashRecorder&) = delete;
  CrashRecorder& operator=(const CrashRecorder&) = delete;

  // Returns whether an exit is worth a record. Two kinds of exit are not: a
  // SIGKILL that is nobody's fault, and the end of a shared worker that was
  // recorded before.
  static bool IsWorthy(const blame::ProcessExit& exit, blame::Culprit culprit);

  // Each of these three writes a record. Returns the record's number, or 0 if
  // there is none.
  //
  // Records the end of a session's worker.
  uint64_t RecordWorker(const EndedBackend& backend, const SessionFacts& facts,
                        blame::Culprit culprit, ExitReport end);
  // Records a failed start of the zygote or, if `probing`, of the worker that
  // counts the devices. Writes nothing if the culprit is kNobody.
  uint64_t RecordStart(const EndedBackend& backend, bool probing,
                       blame::Culprit culprit, const Status& cause);
  // Records the end of the zygote of a ready backend.
  uint64_t RecordZygote(const EndedBackend& backend);
  // Returns words to append to a message about the latest crash. `crash` is the
  // result of its Record…(). The words are "; see `bulkhead crashes show N`",
  // or say why there is no record.
  std::string See(uint64_t crash) const;
  // Returns a remark for operators if some crashes have no record: how many
  // came too fast, how many records could not be written, and why the last of
  // these could not. Returns nullopt if all crashes have a record.
  std::optional<Diagnostic> problem() const;
  // Sets Crash::outcome of record `crash`: "recovered" or the name of the Code
  // that the application got. Does nothing if the record has an outcome.
  void SetOutcome(uint64_t crash, const std::string& outcome);

 private:
  // Returns whether a record may be written now, and counts it if so.
  bool TakeAllowance();
  uint64_t Record(const EndedBackend& backend, Crash crash);
  // Adds the number of crashes without a record to the latest record.
  void AddUnrecorded();

  const crashes::CrashStore store_;
  Crash::Application application_;
  uint32_t allowance_ = kAtOnce;  // the records that may be written now
  Time refilled_ = std::chrono::steady_clock::now();
  uint64_t unrecorded_ = 0;  // crashes since the latest record
  uint64_t latest_ = 0;      // the number of the latest record; 0 if none
  std::set<uint64_t> open_;  // the records without an outcome
  const std::string directory_;
  uint64_t skipped_ = 0;  // crashes not recorded, since there were too many
  uint64_t lost_ = 0;     // crashes whose record could not be written
  Status last_loss_;  // why the last record that was lost could not be written
  std::string unseen_;  // why the latest crash has no record; empty if it has
};

}  // namespace bulkhead::records
