// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/records/kept_counts.h"

#include <algorithm>

#include "core/control/exit_report.h"

namespace bulkhead::supervisor {

BackendCounts& KeptCounts::Of(const std::string& name) {
  BackendCounts& counts = counts_[name];
  counts.backend = name;
  return counts;
}

WorkerEnd WorkerEndOf(const ProcessExit& exit, HostObservation observed,
                      Culprit culprit) {
  if (observed == HostObservation::kMissedDeadline) return WorkerEnd::kDeadline;
  if (observed == HostObservation::kFoundStopped) return WorkerEnd::kKilled;
  if (observed == HostObservation::kBrokeProtocol) return WorkerEnd::kProtocol;
  // CulpritOf() has compared the claims with the exit status.
  if (culprit == Culprit::kDevice) return WorkerEnd::kDeviceLost;
  if (culprit == Culprit::kBreach) return WorkerEnd::kFailed;
  switch (exit.kind) {
    case ProcessExit::Kind::kViolation:
      return WorkerEnd::kSandbox;
    case ProcessExit::Kind::kOutOfMemory:
      return WorkerEnd::kMemory;
    case ProcessExit::Kind::kSignaled:
      return IsForeignKill(exit) || IsRequestToEnd(exit.value)
                 ? WorkerEnd::kKilled
                 : WorkerEnd::kSignal;
    case ProcessExit::Kind::kExited:
      return WorkerEnd::kExit;
    case ProcessExit::Kind::kRunning:
    case ProcessExit::Kind::kUnknown:
      break;
  }
  return WorkerEnd::kUnknown;
}

void AddTo(DurationCounts& counts, std::chrono::nanoseconds duration) {
  const auto& bounds = DurationCounts::kBounds;
  const auto bound = std::lower_bound(bounds.begin(), bounds.end(), duration);
  ++counts.counts[static_cast<size_t>(bound - bounds.begin())];
  counts.sum += std::chrono::duration_cast<std::chrono::microseconds>(duration);
}

}  // namespace bulkhead::supervisor
