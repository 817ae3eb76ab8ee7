// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/records/kept_counts.h"

#include <algorithm>

#include "core/control/exit_report.h"

namespace bulkhead::records {

BackendCounts& KeptCounts::Of(const std::string& name) {
  BackendCounts& counts = counts_[name];
  counts.backend = name;
  return counts;
}

WorkerEnd WorkerEndOf(const blame::ProcessExit& exit,
                      blame::HostObservation observed, blame::Culprit culprit) {
  if (observed == blame::HostObservation::kMissedDeadline)
    return WorkerEnd::kDeadline;
  if (observed == blame::HostObservation::kFoundStopped)
    return WorkerEnd::kKilled;
  if (observed == blame::HostObservation::kBrokeProtocol)
    return WorkerEnd::kProtocol;
  // These two culprits rest on the worker's claims, which CulpritOf() has
  // compared with the exit status.
  if (culprit == blame::Culprit::kDevice) return WorkerEnd::kDeviceLost;
  if (culprit == blame::Culprit::kBreach) return WorkerEnd::kFailed;
  switch (exit.kind) {
    case blame::ProcessExit::Kind::kViolation:
      return WorkerEnd::kSandbox;
    case blame::ProcessExit::Kind::kOutOfMemory:
      return WorkerEnd::kMemory;
    case blame::ProcessExit::Kind::kSignaled:
      return blame::IsForeignKill(exit) || IsRequestToEnd(exit.value)
                 ? WorkerEnd::kKilled
                 : WorkerEnd::kSignal;
    case blame::ProcessExit::Kind::kExited:
      return WorkerEnd::kExit;
    case blame::ProcessExit::Kind::kRunning:
    case blame::ProcessExit::Kind::kUnknown:
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

}  // namespace bulkhead::records
