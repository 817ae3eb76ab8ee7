// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/failover.h"

#include "core/base/device_name.h"

namespace bulkhead::session {
namespace {

std::string InWords(const Failover& failover, std::string_view unit) {
  const std::string units = std::string(unit) + "s";
  switch (failover.proof) {
    case Failover::Proof::kNothingBefore:
      return "nothing was delivered before";
    case Failover::Proof::kSame:
      return "of the " + units + " delivered before, " +
             std::to_string(failover.compared) +
             (failover.compared == 1 ? " was compared and is the same there"
                                     : " were compared and are the same there");
    case Failover::Proof::kDifferent:
      return "its " + units + " differ from those before";
    case Failover::Proof::kNone:
      break;
  }
  return "its " + units + " were not compared with those before";
}

// Returns the name of the backend; empty if the device exists and its backend
// cannot be used now.
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
      // Without a worker that was late, bulkheadd did not answer.
      return error.exit_report() != nullptr;
    default:
      return false;
  }
}

Status WithFirstCause(const Status& error, const Failover& failover) {
  std::optional<ExitReport> report;
  if (error.exit_report() != nullptr) report = *error.exit_report();
  return Status(error.code(),
                error.message() + "; device " + failover.to +
                    " is that of on_failure (--on-failure), because device " +
                    failover.from + " failed: " + failover.cause.message(),
                std::move(report));
}

std::string Describe(const Failover& failover, std::string_view unit) {
  return "device " + failover.from + " failed, so it goes on on " +
         failover.to + " at " + std::string(unit) + " " +
         std::to_string(failover.frame) + "; " + InWords(failover, unit) +
         "; the failure was " + CodeName(failover.cause.code()) + ": " +
         failover.cause.message();
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
  // If there is no such device, the opening says so.
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
