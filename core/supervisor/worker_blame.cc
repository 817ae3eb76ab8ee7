// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/worker_blame.h"

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
  return met_media ? Culprit::kInput : Culprit::kBackend;
}

}  // namespace bulkhead::supervisor
