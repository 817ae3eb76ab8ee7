// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/discovery/discover.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend_start.h"
#include "core/supervisor/backend/granting.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/backend/start_context.h"
#include "core/supervisor/backend/states.h"
#include "core/supervisor/blame/culprit.h"
#include "core/supervisor/records/crash_recorder.h"

namespace bulkhead::backend {

// Explains failed starts of one backend to callers and operators: with a status
// code, a culprit and a text. The text quotes what the processes wrote, and
// names limits that are too low and permissions that nobody granted. A failure
// that has a culprit is recorded as a crash.
//
// Owned by Incarnations. Bound to the event loop's thread. What processes wrote
// is cleaned (log_tail.h), but not trusted.
class StartFailures {
 public:
  // Both references must outlive this object.
  StartFailures(const discovery::BackendCandidate& candidate,
                const StartContext& context)
      : candidate_(candidate), context_(context) {}

  // Returns the cause of the failure `status` of `start`. `launched` is the
  // incarnation of the start; null if nothing was launched.
  BackendCause OfStart(const BackendStart& start, const Status& status,
                       Incarnation* launched) const;
  // Returns the cause of a failure to load the backend for one session. `start`
  // is the start that verified the files.
  BackendCause OfLoad(const BackendStart& start, const Status& status,
                      Incarnation& launched) const;
  // Returns the answer to a session that could not load the backend since
  // memory, processes or descriptors ran out, which is nobody's fault.
  Status OfExhaustedLoad(const BackendStart& start, const Status& status,
                         Incarnation& launched) const;

  // Describes an incarnation whose process ended, for CrashRecorder.
  // `incarnation` is null if nothing was launched.
  records::EndedBackend Ended(Incarnation* incarnation) const;

 private:
  // Returns the failure in words, and records it as a crash if processes were
  // launched and there is a culprit. `probing`: true if it is a failure of the
  // worker that counts the devices.
  std::string Describe(const BackendStart& start, const Status& status,
                       Incarnation* launched,
                       std::optional<blame::Culprit> culprit,
                       bool probing) const;

  const discovery::BackendCandidate& candidate_;
  const StartContext& context_;
};

}  // namespace bulkhead::backend
