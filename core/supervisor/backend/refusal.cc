// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/refusal.h"

#include <utility>

#include "core/supervisor/backend/backend_launch.h"

namespace bulkhead::backend {

Refusal::Refusal(const discovery::BackendCandidate& candidate)
    : candidate_(candidate) {
  if (candidate.usable()) return;
  reason_ = candidate.reason;
  answer_ = Status(Code::kBackendUnavailable, candidate.reason);
}

void Refusal::BacksOff(const BackendCause& cause) {
  reason_ = cause.text;
  if (cause.culprit == blame::Culprit::kBackend) {
    answer_ =
        Status(cause.code, "the backend " + candidate_.name() +
                               " waits before it is started again, since its "
                               "process ended: " +
                               cause.text + "; retry later");
  } else {
    answer_ = LoadFailure(cause.code, cause.text);
  }
}

void Refusal::IsQuarantined(const BackendCause& cause) {
  reason_ = OfQuarantine(cause.text);
  answer_ = cause.code == Code::kBackendMisbehaved
                ? Status(cause.code, "the backend " + candidate_.name() +
                                         " is quarantined, since " + reason_)
                : LoadFailure(cause.code, "quarantined, since " + reason_);
}

void Refusal::IsDisabled() {
  const std::string& name = candidate_.name();
  reason_ =
      "disabled by an operator; `bulkhead enable " + name + "` takes it back";
  answer_ = Status(Code::kBackendUnavailable,
                   "the backend " + name + " is " + reason_);
}

void Refusal::IsReplaced() {
  reason_ = "its successor takes the new sessions; it ends with its last one";
  // A session that gets kBackendLost tries again, and finds the successor.
  answer_ = Status(Code::kBackendLost,
                   "the backend " + candidate_.name() + " was replaced");
}

Status Refusal::WasLost(const BackendCause& cause) {
  reason_ = cause.text;
  return LoadFailure(cause.code, cause.text);
}

std::string Refusal::OfQuarantine(const std::string& cause) const {
  return "it failed too often, at last so: " + cause +
         "; it is tried again when its files change, when libraries are "
         "installed, or after `bulkhead restart " +
         candidate_.name() + "`";
}

Status Refusal::LoadFailure(Code code, const std::string& cause) const {
  EntryPoint entry_point = candidate_.entry_point;
  entry_point.file = ObjectPath(candidate_);
  return Status(code, discovery::LoadFailureMessage(entry_point, cause));
}

}  // namespace bulkhead::backend
