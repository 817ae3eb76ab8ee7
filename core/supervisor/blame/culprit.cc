// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/blame/culprit.h"

#include "core/control/exit_report.h"
#include "ipc/worker_exit.h"

namespace bulkhead::blame {
namespace {

bool CanBeBlamed(const ProcessExit& exit) {
  using Kind = ProcessExit::Kind;
  if (exit.kind == Kind::kRunning || exit.kind == Kind::kUnknown) return false;
  if (IsForeignKill(exit)) return false;
  return exit.zygote_alive && !exit.shared;
}

}  // namespace

bool SaysDeviceLost(const ProcessExit& exit) {
  return exit.kind == ProcessExit::Kind::kExited && exit.says_device_lost &&
         exit.value == ipc::kExitDeviceLost;
}

Culprit CulpritOf(const ProcessExit& exit, HostObservation observed,
                  bool met_media) {
  // A worker that the host killed for its deadline shows a SIGKILL too, so the
  // kernel's report counts only where the host did not kill.
  const bool died = observed == HostObservation::kDied;
  if (died && exit.took_all_tasks && !exit.shared && met_media) {
    return Culprit::kInput;
  }
  if (died && !CanBeBlamed(exit)) return Culprit::kNobody;
  // A decoder that gets no thread may do anything but break the protocol.
  if (exit.lacked_tasks && observed != HostObservation::kBrokeProtocol) {
    return Culprit::kNobody;
  }
  // A process of a backend cannot stop itself or another one.
  if (observed == HostObservation::kFoundStopped) return Culprit::kNobody;
  // Another program sent the signal: the sandbox keeps the backend from sending
  // it. A backend that could would gain only restarts that are not counted, as
  // by a SIGKILL, and none before it has media.
  if (died && met_media && exit.kind == ProcessExit::Kind::kSignaled &&
      IsRequestToEnd(exit.value)) {
    return Culprit::kNobody;
  }
  if (!met_media) return Culprit::kBackend;
  if (observed == HostObservation::kBrokeProtocol) return Culprit::kBreach;
  if (died && exit.kind == ProcessExit::Kind::kExited) {
    if (SaysDeviceLost(exit)) {
      if (exit.device_found_lost && exit.has_devices) return Culprit::kDevice;
      // If several inputs lost the device together, nobody knows which did it.
      return exit.has_devices && !exit.device_lost_by_others ? Culprit::kInput
                                                             : Culprit::kBreach;
    }
    if (exit.says_backend_failed && exit.value == ipc::kExitBackendFailed) {
      return Culprit::kBreach;
    }
  }
  return Culprit::kInput;
}

}  // namespace bulkhead::blame
