// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/control/crash_note.h"
#include "core/crashes/crash_store.h"
#include "core/discovery/discover.h"
#include "core/include/bulkhead/crashes.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/blame/process_exit.h"
#include "core/supervisor/blame/restart_policy.h"
#include "core/supervisor/sandbox/policy.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// Of which a process ended.
struct EndedBackend {
  const discovery::BackendCandidate& candidate;
  Incarnation* incarnation;  // null: it is not known any more
  sandbox::Tier tier;
  uint32_t deadline_ms;  // of its start
};

// What only its host knows of a session whose worker ended.
struct SessionFacts {
  CrashClaim claim;
  std::string device;
  std::string position;
  uint32_t attempt = 1;
  std::string cause;  // what the host killed it for
  std::optional<Crash::Input> input;
  Crash::Request request;
  std::string last_message;
};
// The host is trusted; its words are made fit to be shown all the same.
SessionFacts ToSessionFacts(ipc::schema::SessionEnd::Reader end);

// Writes the records of crashes (core/crashes) of one application: puts
// together what bulkheadd knows of a backend and what the host has told.
//
// A storm of crashes is not written: kAtOnce records, then one every kPause;
// those in between are counted, and the next record says how many they were.
// The event loop waits while one is written (2 ms measured, on a machine at ten
// times its load); the disk is not waited for. A record that cannot be written
// is none, and nobody else notices.
//
// Bound to the event loop's thread.
class CrashRecorder {
 public:
  static constexpr uint32_t kAtOnce = 32;
  static constexpr std::chrono::seconds kPause{2};
  using Time = std::chrono::steady_clock::time_point;

  // `state_directory`: empty for no records. `application`: its pidfd, borrowed
  // for the call.
  CrashRecorder(const std::string& state_directory, int application);

  // Whether an end is worth a record: not a SIGKILL that is nobody's fault, and
  // not the same end of a shared worker again.
  static bool IsWorthy(const ProcessExit& end, Culprit culprit);

  // The numbers of the records; 0: there is none.
  uint64_t RecordWorker(const EndedBackend& backend, const SessionFacts& facts,
                        Culprit culprit, ExitReport end);
  // Also for the worker that counts the devices, and for a start that was
  // given up. None for what is nobody's fault.
  uint64_t RecordStart(const EndedBackend& backend, Culprit culprit,
                       const Status& cause);
  uint64_t RecordZygote(const EndedBackend& backend);
  // Of a record that was made here.
  void SetOutcome(uint64_t crash, const std::string& outcome);

 private:
  bool TakeAllowance();
  uint64_t Record(const EndedBackend& backend, Crash crash);

  const crashes::CrashStore store_;
  Crash::Application application_;
  uint32_t allowance_ = kAtOnce;
  Time refilled_ = std::chrono::steady_clock::now();
  uint64_t unrecorded_ = 0;
  std::set<uint64_t> open_;  // records without an outcome
};

}  // namespace bulkhead::supervisor
