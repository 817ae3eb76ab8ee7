// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/blame/culprit.h"

#include "ipc/worker_exit.h"

namespace bulkhead::supervisor {
namespace {

bool IsAnybodysFault(const WorkerEnd& end) {
  using Kind = WorkerEnd::Kind;
  if (end.kind == Kind::kRunning || end.kind == Kind::kUnknown) return false;
  if (IsForeignKill(end)) return false;
  return end.zygote_alive && !end.shared;
}

}  // namespace

Culprit CulpritOf(const WorkerEnd& end, SeenEnd seen, bool met_media) {
  if (seen == SeenEnd::kLied) return Culprit::kBackend;
  if (seen == SeenEnd::kDied && !IsAnybodysFault(end)) return Culprit::kNobody;
  if (!met_media) return Culprit::kBackend;
  const bool device_lost = seen == SeenEnd::kDied &&
                           end.kind == WorkerEnd::Kind::kExited &&
                           end.value == ipc::kExitDeviceLost;
  return device_lost ? Culprit::kDevice : Culprit::kInput;
}

}  // namespace bulkhead::supervisor
