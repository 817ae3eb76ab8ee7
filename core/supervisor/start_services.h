// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <sys/types.h>

#include <map>
#include <string>

#include "core/grants/grant_reader.h"
#include "core/supervisor/backend/ending_reapers.h"
#include "core/supervisor/backend/start_context.h"
#include "core/supervisor/blame/disabled_backends.h"
#include "core/supervisor/blame/quarantine_records.h"
#include "core/supervisor/files/libexec_program.h"
#include "core/supervisor/files/remote_places.h"
#include "core/supervisor/health/health_check.h"
#include "core/supervisor/records/crash_recorder.h"
#include "core/supervisor/records/event_log.h"
#include "core/supervisor/records/host_counters.h"
#include "core/supervisor/records/kept_counts.h"
#include "core/supervisor/records/killed_workers.h"
#include "core/supervisor/sandbox/held_files.h"
#include "core/supervisor/sandbox/task_limits.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// Owns what every start of a backend uses: the settings of the application, and
// the records, counters and services that live longer than one backend.
// StartContext passes references to these objects to the backends.
//
// Bound to the event loop's thread.
class StartServices {
 public:
  struct Programs {
    files::LibexecProgram reaper;
    files::LibexecProgram worker;
  };

  // `application_pidfd` is borrowed and must stay open as long as this object
  // lives.
  StartServices(kj::UnixEventPort& port, pid_t application_pid,
                ipc::schema::Configuration::Reader configuration,
                int application_pidfd, Programs programs);
  KJ_DISALLOW_COPY(StartServices);

  // Returns the context with the settings and references. Its tier is `none`
  // until OfferedSandbox has probed the sandbox.
  backend::StartContext& context() { return context_; }
  records::EventLog& events() { return events_; }
  records::CrashRecorder& crashes() { return crashes_; }
  records::HostCounters& counters() { return counters_; }
  const records::KeptCounts& counts() const { return counts_; }
  records::KilledWorkers& killed() { return killed_; }

 private:
  files::RemotePlaces places_;
  grants::GrantReader grants_;
  blame::QuarantineRecords quarantine_;
  blame::DisabledBackends disabled_;
  records::EventLog events_;
  records::CrashRecorder crashes_;
  records::HostCounters counters_;
  records::KeptCounts counts_;
  std::map<std::string, bool> met_media_;
  sandbox::HeldParts held_parts_;
  const sandbox::TaskLimits task_limits_;
  records::KilledWorkers killed_;
  backend::EndingReapers ending_;
  const health::HealthCheck health_;
  backend::StartContext context_;
};

}  // namespace bulkhead::supervisor
