// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/discovery/discover.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/states.h"

namespace bulkhead::backend {

// Builds the texts about a backend that is not ready: the answer to callers,
// and the reason for operators. Call the non-const functions when the state of
// the backend changes; each sets the texts.
//
// Owned by Lifecycle. Not thread-safe.
class Refusal {
 public:
  // `candidate` is borrowed.
  explicit Refusal(const discovery::BackendCandidate& candidate);

  // Returns the answer to callers while nothing may be started.
  const Status& answer() const { return answer_; }
  // Returns the reason why the backend is not ready, for people; empty if there
  // is nothing to say.
  const std::string& reason() const { return reason_; }

  // Clears the reason, since the backend is ready or may be started.
  void Forget() { reason_.clear(); }
  // Sets a reason that does not change the answer.
  void Explain(std::string reason) { reason_ = std::move(reason); }
  // Set the answer and the reason for the state that the name says.
  void BacksOff(const BackendCause& cause);
  void IsQuarantined(const BackendCause& cause);
  void IsDisabled();
  void IsReplaced();
  // Sets the reason of a start that ended through nobody's fault. Returns the
  // answer for those who wait for that start; answer() stays as it was.
  Status WasLost(const BackendCause& cause);

  // Returns the reason, for people, of a quarantine that `cause` has led to.
  std::string OfQuarantine(const std::string& cause) const;

 private:
  Status LoadFailure(Code code, const std::string& cause) const;

  const discovery::BackendCandidate& candidate_;
  std::string reason_;
  Status answer_{Code::kBackendUnavailable, "the backend is not ready"};
};

}  // namespace bulkhead::backend
