// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/discovery/discover.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/states.h"

namespace bulkhead::backend {

// The words for callers and operators about a backend that is not ready. Each
// function but the first two says what has become of the backend.
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

  void Forget() { reason_.clear(); }
  void Explain(std::string reason) { reason_ = std::move(reason); }
  void BacksOff(const BackendCause& cause);
  void IsQuarantined(const BackendCause& cause);
  void IsDisabled();
  void IsReplaced();
  // A start was lost: returns the answer to those who wait for it.
  Status WasLost(const BackendCause& cause);

  // Returns the reason of a quarantine that `cause` has led to.
  std::string OfQuarantine(const std::string& cause) const;

 private:
  Status LoadFailure(Code code, const std::string& cause) const;

  const discovery::BackendCandidate& candidate_;
  std::string reason_;
  Status answer_{Code::kBackendUnavailable, "the backend is not ready"};
};

}  // namespace bulkhead::backend
