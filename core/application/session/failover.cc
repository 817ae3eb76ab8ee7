// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/failover.h"

#include "core/base/device_name.h"

namespace bulkhead::session {
namespace {

// Returns the name of the device's backend. Returns an empty name if the device
// exists but its backend cannot be used now.
Result<std::string> BackendOf(supervisor_link::SupervisorLink& supervisor,
                              const std::string& device) {
  auto found = supervisor.FindDevice(device);
  if (found) return found;
  const Code code = found.error().code();
  if (code == Code::kNotFound || code == Code::kInvalidArgument) return found;
  return std::string();
}

}  // namespace

bool IsFailureOfBackend(const Status& error) {
  switch (error.code()) {
    case Code::kPoisonedInput:
    case Code::kBackendUnavailable:
    case Code::kBackendLost:
    case Code::kBackendMisbehaved:
      return true;
    case Code::kDeadlineExceeded:
      // If there is no report of a late worker, bulkheadd was late.
      return error.exit_report() != nullptr;
    default:
      return false;
  }
}

Result<bool> CheckOnFailure(supervisor_link::SupervisorLink& supervisor,
                            const std::string& device,
                            const std::string& on_failure) {
  constexpr const char* kOption = "on_failure (--on-failure)";
  const auto second = ParseDeviceName(on_failure);
  if (!second) return second.error().WithContext(kOption);
  ASSIGN_OR_RETURN(const auto first, ParseDeviceName(device));
  auto backend_there = BackendOf(supervisor, on_failure);
  if (!backend_there) return backend_there.error().WithContext(kOption);
  const auto backend = BackendOf(supervisor, device);
  // An error about the first device is reported later, when it is opened.
  const bool same_backend = backend && *backend == *backend_there;
  if (same_backend && first.name == second->name &&
      first.index.value_or(0) == second->index.value_or(0)) {
    return Status(Code::kInvalidArgument,
                  std::string(kOption) + " is \"" + on_failure +
                      "\", the device itself; name another one, or leave it "
                      "out");
  }
  return same_backend;
}

}  // namespace bulkhead::session
