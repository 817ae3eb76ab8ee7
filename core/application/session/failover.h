// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/application/supervisor_link/supervisor_link.h"
#include "core/base/status_macros.h"
#include "core/include/bulkhead/recovery.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

// The rules and the options by which a stream goes on on another device;
// bulkhead/recovery.h says when and how it does. WorkerRecovery makes the
// change, FrameSequence and Witness compare the pictures.
//
// Trust: the backend that failed may have chosen when and how it fails, and so
// when a stream leaves it. It gains nothing else: the caller named the other
// device, whose worker gets nothing from the first one but the number and the
// timestamp of the next frame.

// The result of decoding delivered frames again on the other device.
struct Comparison {
  bool same = false;
  uint64_t frames = 0;  // that were compared and are the same
};

// Returns whether the error means that the backend failed, so that another one
// may do better. The error must end the recovery on the same device.
bool IsFailureOfBackend(const Status& error);

// Adds to an error of the device that a stream went on on why it went there.
Status WithFirstCause(const Status& error, const Failover& failover);

// Returns the failover in one sentence. `unit` is what the stream is counted
// in, "frame" or "sample".
std::string Describe(const Failover& failover, std::string_view unit);

// Checks on_failure without starting anything. Returns whether both devices are
// of the same backend.
Result<bool> CheckOnFailure(supervisor_link::SupervisorLink& supervisor,
                            const std::string& device,
                            const std::string& on_failure);

// Returns the options with which the stream is opened on the device on_failure;
// nullopt if there is no such device.
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
