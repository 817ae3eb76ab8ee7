// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/device_count.h"

#include <sys/types.h>

#include <chrono>
#include <string>
#include <utility>

#include "core/base/from_ipc.h"
#include "core/control/crash_note.h"
#include "core/control/exit_report.h"
#include "core/supervisor/blame/process_exit.h"
#include "core/supervisor/sockets/event_socket.h"
#include "ipc/limit_name.h"
#include "ipc/message_socket.h"

namespace bulkhead::backend {
namespace {

using std::chrono::milliseconds;

// The time to wait for the report of how a process ended: its socket closes a
// moment earlier.
constexpr milliseconds kEndPatience{500};

DeviceCount Blaming(blame::Culprit culprit, Status status) {
  return {.status = std::move(status), .culprit = culprit};
}

// Blames the device if the backend was granted device nodes, otherwise the
// start.
DeviceCount BlamingProbe(const Incarnation& incarnation, Status status) {
  return Blaming(incarnation.has_devices() ? blame::Culprit::kDevice
                                           : blame::Culprit::kStart,
                 std::move(status));
}

// Waits until the worker has ended, and returns a failure that says how.
kj::Promise<DeviceCount> AwaitDeath(Incarnation& incarnation, pid_t pid,
                                    CrashClaim claim) {
  return incarnation.AwaitEnd(pid, kEndPatience)
      .then([&incarnation,
             claim = std::move(claim)](const blame::ProcessExit& end) mutable {
        ExitReport report = blame::ToReport(end);
        AddClaim(std::move(claim), report);
        Status died(Code::kBackendUnavailable,
                    "its process died while it counted its devices: " +
                        DescribeExit(report),
                    report);
        const bool lost = blame::CulpritOf(end, blame::HostObservation::kDied,
                                           false) == blame::Culprit::kNobody;
        return lost ? Blaming(blame::Culprit::kNobody, std::move(died))
                    : BlamingProbe(incarnation, std::move(died));
      });
}

DeviceCount Adopt(ipc::ReceivedMessage& list_untrusted,
                  const discovery::BackendCandidate& candidate) {
  auto devices = ReadDeviceList(list_untrusted, candidate.manifest.devices);
  if (devices) return {.status = Status(), .devices = *std::move(devices)};
  if (devices.error().code() == Code::kBackendMisbehaved) {
    return Blaming(blame::Culprit::kStart, std::move(devices).error());
  }
  return {.status = std::move(devices).error()};
}

// Reads the worker's one message, or learns how the worker ended without it.
kj::Promise<DeviceCount> ReadAnswer(
    sockets::EventSocket& socket, const discovery::BackendCandidate& candidate,
    Incarnation& incarnation, pid_t pid) {
  return socket.Receive(0).then([&candidate, &incarnation, pid](
                                    auto received) -> kj::Promise<DeviceCount> {
    if (!received) {
      return Blaming(blame::Culprit::kStart,
                     FromIpc(std::move(received).error()));
    }
    if (!*received) return AwaitDeath(incarnation, pid, {});
    if (auto claim = ReadProbeCrash(**received)) {
      return AwaitDeath(incarnation, pid, *std::move(claim));
    }
    return Adopt(**received, candidate);
  });
}

}  // namespace

kj::Promise<DeviceCount> CountDevices(
    const StartContext& context, const discovery::BackendCandidate& candidate,
    std::shared_ptr<Incarnation> incarnation) {
  auto sockets = ipc::MakeSocketPair();
  if (!sockets) {
    return DeviceCount{.status = FromIpc(std::move(sockets).error()),
                       .step = DeviceCount::Step::kPreparing};
  }
  auto socket = std::make_shared<sockets::EventSocket>(
      context.port, std::move(sockets->first));
  auto cloning = incarnation->CloneWorker(Incarnation::WorkerKind::kProbe,
                                          std::move(sockets->second),
                                          context.worker_deadline);
  return cloning.then([&context, &candidate, socket,
                       incarnation = std::move(incarnation)](
                          auto worker) -> kj::Promise<DeviceCount> {
    if (!worker) {
      return DeviceCount{.status = std::move(worker).error(),
                         .step = DeviceCount::Step::kCloning};
    }
    const pid_t pid = worker->pid;
    const milliseconds limit = context.worker_deadline;
    return ReadAnswer(*socket, candidate, *incarnation, pid)
        .exclusiveJoin(
            context.port.getTimer()
                .afterDelay(limit.count() * kj::MILLISECONDS)
                .then([incarnation, limit] {
                  return BlamingProbe(
                      *incarnation,
                      Status(Code::kBackendUnavailable,
                             "it took too long to count its devices, more than "
                             "the " +
                                 std::to_string(limit.count()) + " ms of " +
                                 ipc::DeadlineName("worker_start"),
                             ExitReport{.kind = ExitReport::Kind::kDeadline}));
                }))
        .then([incarnation, socket, pid](DeviceCount count) {
          incarnation->KillWorker(pid);
          incarnation->ForgetWorker(pid);
          return count;
        });
  });
}

}  // namespace bulkhead::backend
