// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "bulkhead/status.h"

namespace bulkhead {

// One event of a backend or a session, as bulkheadd (the supervisor process)
// saw it. Members that do not apply to the kind are empty.
struct Event {
  enum class Kind : uint8_t {
    kBackendState,  // `backend` is now in `state`; `text` is the reason.
    // The zygote ended: the process from which the backend's workers are
    // cloned. `text` says how. A new one is started when needed.
    kZygoteEnded,
    kWorkerEnded,    // The worker of `session`; `text` and `exit` say how.
    kSessionOpened,  // Also reported when a session gets another worker.
    kSessionClosed,
    kCommand,  // An operator's command; `text` is the command and its outcome.
    // A shadow (HostOptions::shadow) of `session` found its first difference;
    // `text` says where.
    kShadowDiffers,
    kShadowClosed,  // The shadow of `session` ended; `text` has its counts.
    // `backend` was tried with a known clip. `state` is "passed", "failed" or
    // "undecided"; `text` says why it was tried, and how that ended.
    kTrial,
    // `backend` failed on `device`, and the stream continues on another device,
    // as `session`; `text` says where and why (Failover).
    kFailover,
    // `backend` failed on `device`, and so did the device on which the stream
    // continued or was to continue; `text` has both causes. Sent once per
    // stream.
    kFailoverFailed,
  };

  uint64_t number = 0;  // Counted from 1 by each bulkheadd, without gaps.
  std::chrono::system_clock::time_point time;
  Kind kind = Kind::kBackendState;
  int host_pid = 0;  // The pid of the application.
  std::string backend;
  uint64_t session = 0;  // 0 if the event concerns no session.
  std::string device;
  // The state of kBackendState (BackendInfo::state) or kTrial; else empty.
  std::string state;
  std::string text;  // For people; may be empty.
  std::optional<ExitReport> exit;
  // The number of events just before this one that were dropped because the
  // reader was too slow.
  uint64_t lost = 0;
};

// Returns "backend-state", "zygote-ended" and so on. The string has static
// storage.
const char* EventKindName(Event::Kind kind);

// Called with each event, one at a time, in order.
using EventObserver = std::function<void(const Event&)>;

}  // namespace bulkhead
