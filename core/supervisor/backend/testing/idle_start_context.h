// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "core/discovery/discover.h"
#include "core/grants/grant_reader.h"
#include "core/supervisor/backend/decoding_check.h"
#include "core/supervisor/backend/devices.h"
#include "core/supervisor/backend/ending_reapers.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/backend/start_context.h"
#include "core/supervisor/blame/disabled_backends.h"
#include "core/supervisor/blame/quarantine_records.h"
#include "core/supervisor/files/remote_places.h"
#include "core/supervisor/records/crash_recorder.h"
#include "core/supervisor/records/event_log.h"
#include "core/supervisor/records/host_counters.h"
#include "core/supervisor/records/kept_counts.h"
#include "core/supervisor/records/killed_workers.h"
#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/held_files.h"
#include "core/supervisor/sandbox/policy.h"
#include "core/supervisor/sandbox/task_limits.h"

namespace bulkhead::backend {

// Owns a StartContext for tests of backends that never launch a process: it has
// no programs to launch, no grants, and no state directory. Bound to the event
// loop of `port`, which must outlive this object.
class IdleStartContext {
 public:
  explicit IdleStartContext(kj::UnixEventPort& port)
      : places_(port),
        ending_(port),
        context_{.port = port,
                 .places = places_,
                 .application_pidfd = -1,
                 .reaper = {},
                 .worker = {},
                 .start_deadline = std::chrono::seconds(60),
                 .worker_deadline = std::chrono::seconds(60),
                 .attempts_per_position = 3,
                 .failures_per_backend = 3,
                 .tier = sandbox::Tier::kNone,
                 .own_uid = false,
                 .forbidden = sandbox::Forbidden::kKill,
                 .reads_memory = false,
                 .held_parts = held_parts_,
                 .task_limits = task_limits_,
                 .cgroup = {},
                 .grants = grants_,
                 .quarantine = quarantine_,
                 .disabled = disabled_,
                 .events = events_,
                 .crashes = crashes_,
                 .killed = killed_,
                 .ending = ending_,
                 .decoding = decoding_,
                 .counters = counters_,
                 .counts = counts_,
                 .met_media = met_media_} {}
  KJ_DISALLOW_COPY(IdleStartContext);

  const StartContext& context() const { return context_; }

 private:
  // Checks nothing: a backend that never starts is never checked.
  class NoCheck final : public DecodingCheck {
   public:
    kj::Promise<Outcome> CheckRunning(const discovery::BackendCandidate&,
                                      const StartContext&,
                                      std::shared_ptr<Incarnation>,
                                      const CountedDevice&) const override {
      return Outcome{};
    }
    kj::Promise<Outcome> CheckAfresh(const discovery::BackendCandidate&,
                                     unsigned, const StartContext&,
                                     const std::string&) const override {
      return Outcome{};
    }
  };

  files::RemotePlaces places_;
  EndingReapers ending_;
  grants::GrantReader grants_;
  blame::QuarantineRecords quarantine_{""};
  blame::DisabledBackends disabled_{""};
  records::EventLog events_;
  records::CrashRecorder crashes_{"", -1};
  records::KilledWorkers killed_;
  const NoCheck decoding_{};
  records::HostCounters counters_;
  records::KeptCounts counts_;
  std::map<std::string, bool> met_media_;
  sandbox::HeldParts held_parts_;
  const sandbox::TaskLimits task_limits_;
  const StartContext context_;
};

}  // namespace bulkhead::backend
