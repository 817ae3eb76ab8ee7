// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "core/grants/grant_reader.h"
#include "core/supervisor/backend/decoding_check.h"
#include "core/supervisor/backend/ending_reapers.h"
#include "core/supervisor/blame/disabled_backends.h"
#include "core/supervisor/blame/quarantine_records.h"
#include "core/supervisor/files/libexec_program.h"
#include "core/supervisor/files/remote_places.h"
#include "core/supervisor/records/crash_recorder.h"
#include "core/supervisor/records/event_log.h"
#include "core/supervisor/records/host_counters.h"
#include "core/supervisor/records/kept_counts.h"
#include "core/supervisor/records/killed_workers.h"
#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/cgroup.h"
#include "core/supervisor/sandbox/granted_paths.h"
#include "core/supervisor/sandbox/held_files.h"
#include "core/supervisor/sandbox/policy.h"
#include "core/supervisor/sandbox/task_limits.h"

namespace bulkhead::backend {

// The settings and services with which every backend of this bulkheadd is
// started: limits and deadlines of the application, the state of the sandbox,
// and records that outlive a backend. A plain bundle of references, so that a
// constructor has one parameter for them. Owned by StartServices.
struct StartContext {
  kj::UnixEventPort& port;
  files::RemotePlaces& places;
  int application_pidfd;  // borrowed
  files::LibexecProgram reaper;
  files::LibexecProgram worker;
  std::chrono::milliseconds start_deadline;   // backend_start
  std::chrono::milliseconds worker_deadline;  // worker_start
  uint32_t attempts_per_position;  // BlameLimits::attempts_per_position
  uint32_t failures_per_backend;   // failures that lead to quarantine
  sandbox::Tier tier = sandbox::Tier::kNone;
  bool own_uid = false;  // true if each backend can run under a uid of its own
  sandbox::Reach reach() const {
    return {.own_uid = own_uid, .own_root = tier == sandbox::Tier::kFull};
  }
  // The reaction to forbidden system calls.
  sandbox::Forbidden forbidden = sandbox::Forbidden::kKill;
  bool reads_memory = false;  // true if bulkheadd can read backends' memory
  sandbox::HeldParts& held_parts;
  const sandbox::TaskLimits& task_limits;
  sandbox::CgroupParent cgroup = {};  // the parent of the backends' cgroups
  grants::GrantReader& grants;
  blame::QuarantineRecords& quarantine;
  blame::DisabledBackends& disabled;
  records::EventLog& events;
  records::CrashRecorder& crashes;
  records::KilledWorkers& killed;
  EndingReapers& ending;
  const DecodingCheck& decoding;
  const records::HostCounters& counters;
  records::KeptCounts& counts;
  // Maps the .dist-info directory of each distribution to true once an
  // incarnation of one of its backends had media.
  std::map<std::string, bool>& met_media;
};

}  // namespace bulkhead::backend
