// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/application/supervisor_link/supervisor_link.h"
#include "core/base/status_macros.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

// Rules and options for a stream that continues on another device after its
// backend has failed. bulkhead/recovery.h says when and how this happens.
// WorkerRecovery changes the device, Witness compares the pictures of both
// devices, and FailoverRecord describes the change.
//
// Trust: the backend that failed can choose the moment of its failure. It gains
// nothing else: the caller chose the other device. The only data that the other
// device's worker gets from the failed backend are the number and the timestamp
// of the next frame.

// The result of a comparison: delivered frames were decoded again on the other
// device.
struct Comparison {
  bool same = false;
  uint64_t frames = 0;  // number of frames found to be the same
};

// Returns whether the error means that the backend failed, so that another
// backend may succeed. Call this only after WorkerRecovery has given up on the
// same device.
bool IsFailureOfBackend(const Status& error);

// Checks the option on_failure, and returns whether both devices belong to the
// same backend. Fails if on_failure is malformed, names no known device, or
// names `device`. Starts no backend.
Result<bool> CheckOnFailure(supervisor_link::SupervisorLink& supervisor,
                            const std::string& device,
                            const std::string& on_failure);

// Returns the options for opening the stream on the device on_failure, or
// nullopt if on_failure is empty. Backend options are dropped if this device
// belongs to another backend.
template <typename Options>
Result<std::optional<Options>> OptionsElsewhere(
    supervisor_link::SupervisorLink& supervisor, const Options& options) {
  if (options.on_failure.empty()) return std::optional<Options>();
  ASSIGN_OR_RETURN(
      const bool same_backend,
      CheckOnFailure(supervisor, options.device, options.on_failure));
  Options elsewhere = options;
  elsewhere.device = options.on_failure;
  elsewhere.on_failure.clear();
  if (!same_backend) elsewhere.backend_options.clear();
  return std::make_optional(std::move(elsewhere));
}

}  // namespace bulkhead::session
