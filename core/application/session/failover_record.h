// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/application/session/current_worker.h"
#include "core/application/session/failover.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/include/bulkhead/recovery.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

// Keeps the description of a stream's failover (its move to another device) for
// the application and for operators: from which device to which, why, and what
// the comparison of frames showed. Before the move there is no description.
//
// Reports to bulkheadd, which makes an event for operators, at most twice: when
// the first step succeeds on the other device, and when a call first fails
// because of that device. Owned by WorkerRecovery. Not thread-safe.
class FailoverRecord {
 public:
  // Keeps the description in `failover`, which must be empty. Both references
  // must outlive the object. `unit` is "frame" for video, "sample" for audio.
  FailoverRecord(supervisor_link::SupervisorLink& supervisor, const char* unit,
                 std::optional<Failover>& failover)
      : supervisor_(supervisor), unit_(unit), failover_(failover) {}
  FailoverRecord(const FailoverRecord&) = delete;
  FailoverRecord& operator=(const FailoverRecord&) = delete;

  // Records that the device was changed.
  void Begin(Failover failover);
  // Adds the result of a comparison of frames, made after Begin().
  void Compared(const Comparison& comparison);
  // Returns whether the device was changed and no step has succeeded since
  // then.
  bool unconfirmed() const { return failover_ && !confirmed_; }
  // Records that `worker`, on the other device, has completed a step. Requires
  // unconfirmed(). `input` is the name of the input.
  void Confirm(const CurrentWorker& worker, const std::string& input);
  // Returns the error for a call that ends with the error `end`. If the device
  // was changed, adds the failure of the first device, except to:
  // - kCancelled
  // - errors after the first step that succeeded on the other device, unless
  //   its backend failed (IsFailureOfBackend())
  Status WithFirstCause(const Status& end);

 private:
  supervisor_link::SupervisorLink& supervisor_;
  const char* const unit_;
  std::optional<Failover>& failover_;
  bool confirmed_ = false;
  bool told_both_failed_ = false;
};

}  // namespace bulkhead::session
