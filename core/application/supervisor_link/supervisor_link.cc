// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/supervisor_link.h"

#include <utility>

#include "core/application/supervisor_link/report_reading.h"
#include "core/base/application_limits.h"
#include "core/base/clean_text.h"
#include "core/base/device_name.h"
#include "core/base/status_macros.h"

namespace bulkhead::supervisor_link {
namespace {

namespace schema = ipc::schema;
using Request = schema::HostRequest;
using Reply = schema::HostReply;

}  // namespace

SupervisorLink::SupervisorLink(SupervisorSettings settings,
                               std::shared_ptr<SessionCounting> counting,
                               InterruptibleTurn turn)
    : settings_(std::move(settings)),
      counting_(std::move(counting)),
      connections_(settings_, counting_, std::move(turn)),
      calls_(settings_.deadlines, connections_),
      sessions_(settings_.deadlines, connections_, calls_) {}

Result<std::shared_ptr<SupervisorLink>> SupervisorLink::Start(
    SupervisorSettings settings) {
  auto counting = SessionCounting::Create();
  if (!counting) return NamingLimits(counting.error());
  auto turn = InterruptibleTurn::Create();
  if (!turn) return NamingLimits(turn.error());
  std::shared_ptr<SupervisorLink> link(new SupervisorLink(
      std::move(settings), *std::move(counting), *std::move(turn)));
  RETURN_IF_ERROR(link->connections_.Start());
  return link;
}

void SupervisorLink::TellOutcome(const std::vector<uint64_t>& crashes,
                                 const std::string& outcome) {
  // Only the bulkheadd that made the records accepts an outcome for them, so
  // no successor is started here.
  if (!connections_.alive()) return;
  calls_.Tell([&](Request::Builder request) {
    auto told = request.initCrashOutcome();
    auto list = told.initCrashes(crashes.size());
    for (size_t i = 0; i < crashes.size(); ++i) list.set(i, crashes[i]);
    told.setOutcome(outcome);
  });
}

void SupervisorLink::TellFailedFailover(const std::string& device,
                                        const std::string& text) {
  // Nobody would listen to a bulkheadd that is started just for this.
  if (!connections_.alive()) return;
  calls_.Tell([&](Request::Builder request) {
    auto failed = request.initFailedOver();
    failed.setDevice(device);
    failed.setText(CleanText(text, kMaxEventTextBytes));
    failed.setFailed(true);
  });
}

Result<std::string> SupervisorLink::FindDevice(const std::string& device) {
  std::string backend;
  RETURN_IF_ERROR(calls_.Ask(
      [&](Request::Builder request) { request.setFindDevice(device); },
      calls_.ListPatience(),
      [&](Reply::Reader reply, ipc::ReceivedMessage&) {
        if (!reply.isDeviceFound()) return UnexpectedReply();
        backend = reply.getDeviceFound().cStr();
        return Status();
      }));
  return backend;
}

Status SupervisorLink::CheckShadowDevice() {
  if (!shadow() || shadow()->share == 0 || shadow_device_known_) {
    return Status();
  }
  const auto found = FindDevice(shadow()->against);
  const Code code = found ? Code::kOk : found.error().code();
  if (code == Code::kNotFound || code == Code::kInvalidArgument) {
    return found.error().WithContext("option shadow.against of the Host");
  }
  // Any other failure is not a mistake in the option: the device exists, but
  // its backend cannot be used now.
  shadow_device_known_ = true;
  return Status();
}

Status SupervisorLink::Prepare(const std::string& device,
                               CancelSignal* cancel) {
  ASSIGN_OR_RETURN(const auto name, ParseDeviceName(device));
  return calls_.Ask(
      [&](Request::Builder request) { request.setPrepare(name.ToString()); },
      calls_.StartPatience(), TakeConfigured, cancel);
}

Status SupervisorLink::Command(const std::string& backend,
                               schema::BackendCommand::Action action,
                               CancelSignal* cancel) {
  return calls_.Ask(
      [&](Request::Builder request) {
        auto command = request.initCommand();
        command.setBackend(backend);
        command.setAction(action);
      },
      calls_.StartPatience(), TakeConfigured, cancel);
}

Result<std::vector<DeviceInfo>> SupervisorLink::Load(const ExplicitLoad& load,
                                                     CancelSignal* cancel) {
  std::vector<DeviceInfo> devices;
  const Status status = calls_.Ask(
      [&](Request::Builder request) {
        auto out = request.initLoad();
        out.setPath(load.path);
        out.setEntryPoint(load.entry_point);
      },
      calls_.StartPatience(),
      [&](Reply::Reader reply, ipc::ReceivedMessage&) {
        if (!reply.isLoaded()) return UnexpectedReply();
        devices = ToDevices(reply.getLoaded());
        return Status();
      },
      cancel);
  // bulkheadd has registered the backend even if it could not start
  // (kBackendUnavailable) or the caller did not wait (kCancelled).
  if (status.ok() || status.code() == Code::kBackendUnavailable ||
      status.code() == Code::kCancelled) {
    connections_.RememberLoad(load);
  }
  if (!status.ok()) return status;
  return devices;
}

Result<BackendReport> SupervisorLink::Backends(CancelSignal* cancel) {
  BackendReport report;
  report.diagnostics = settings_.plugin_path.diagnostics;
  const Diagnostics& grants = settings_.grant_files.diagnostics;
  report.diagnostics.insert(report.diagnostics.end(), grants.begin(),
                            grants.end());
  RETURN_IF_ERROR(
      calls_.Ask([](Request::Builder request) { request.setListBackends(); },
                 calls_.ListPatience(),
                 [&](Reply::Reader reply, ipc::ReceivedMessage&) {
                   if (!reply.isBackends()) return UnexpectedReply();
                   AddTo(report, reply.getBackends());
                   return Status();
                 },
                 cancel));
  return report;
}

Result<SandboxReport> SupervisorLink::Sandbox(CancelSignal* cancel) {
  SandboxReport report{};
  RETURN_IF_ERROR(
      calls_.Ask([](Request::Builder request) { request.setDescribeSandbox(); },
                 settings_.deadlines.backend_start + calls_.ListPatience(),
                 [&](Reply::Reader reply, ipc::ReceivedMessage&) {
                   if (!reply.isSandbox()) return UnexpectedReply();
                   report = ToReport(reply.getSandbox());
                   return Status();
                 },
                 cancel));
  return report;
}

}  // namespace bulkhead::supervisor_link
