// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "core/grants/grant_reader.h"
#include "core/supervisor/backend/crash_recorder.h"
#include "core/supervisor/backend/ending_reapers.h"
#include "core/supervisor/backend/killed_workers.h"
#include "core/supervisor/blame/disabled_backends.h"
#include "core/supervisor/blame/quarantine_records.h"
#include "core/supervisor/files/installed_program.h"
#include "core/supervisor/files/remote_places.h"
#include "core/supervisor/records/event_log.h"
#include "core/supervisor/records/host_counters.h"
#include "core/supervisor/records/kept_counts.h"
#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/cgroup.h"
#include "core/supervisor/sandbox/granted_paths.h"
#include "core/supervisor/sandbox/held_files.h"
#include "core/supervisor/sandbox/policy.h"
#include "core/supervisor/sandbox/task_limits.h"

namespace bulkhead::supervisor {

// The settings and services with which every backend of this bulkheadd is
// started. Owned by Supervisor.
struct StartContext {
  kj::UnixEventPort& port;
  RemotePlaces& places;
  int application_pidfd;
  InstalledProgram reaper;
  InstalledProgram worker;
  std::chrono::milliseconds start_deadline;
  std::chrono::milliseconds worker_deadline;
  uint32_t attempts_per_position;
  uint32_t failures_per_backend;
  sandbox::Tier tier;
  bool own_uid;  // true if each backend can run under a uid of its own
  sandbox::Reach reach() const {
    return {.own_uid = own_uid, .own_root = tier == sandbox::Tier::kFull};
  }
  sandbox::Forbidden forbidden;
  bool reads_memory;  // SandboxReport::reads_memory
  sandbox::HeldParts& held_parts;
  const sandbox::TaskLimits& task_limits;
  sandbox::CgroupParent cgroup;  // the parent of the backends' cgroups
  grants::GrantReader& grants;
  QuarantineRecords& quarantine;
  DisabledBackends& disabled;
  EventLog& events;
  CrashRecorder& crashes;
  KilledWorkers& killed;
  EndingReapers& ending;
  const HostCounters& counters;
  KeptCounts& counts;
  // By distribution, whether a life of one of its backends had media.
  std::map<std::string, bool>& met_media;
};

}  // namespace bulkhead::supervisor
