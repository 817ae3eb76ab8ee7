// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/application/supervisor_link/report_reading.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/base/clean_text.h"
#include "core/base/device_name.h"
#include "core/base/status_macros.h"

// The requests that a SupervisorLink makes, over the connections that
// supervisor_link.cc keeps.
namespace bulkhead::supervisor_link {
namespace {

namespace schema = ipc::schema;

// The text of an event.
constexpr size_t kMaxTextBytes = 2'000;

}  // namespace

std::chrono::milliseconds SupervisorLink::StartPatience() const {
  // Files that settle, the start and, for a session that loads the backend
  // anew, its turn and its load; the device count and the clones.
  return 4 * settings_.deadlines.backend_start +
         3 * settings_.deadlines.worker_start + kSlack;
}

std::chrono::milliseconds SupervisorLink::ListPatience() const {
  // Enough to find out that bulkheadd hangs.
  return settings_.deadlines.supervisor_start + 2 * kSlack;
}

void SupervisorLink::TellOutcome(const std::vector<uint64_t>& crashes,
                                 const std::string& outcome) {
  {
    std::lock_guard lock(mutex_);
    // Only the bulkheadd that made the records accepts an outcome for them, so
    // no other one is started here.
    if (!alive_) return;
  }
  (void)Call(
      [&](Request::Builder request) {
        auto told = request.initCrashOutcome();
        auto list = told.initCrashes(crashes.size());
        for (size_t i = 0; i < crashes.size(); ++i) list.set(i, crashes[i]);
        told.setOutcome(outcome);
      },
      {}, kSlack,
      [](Reply::Reader, ipc::ReceivedMessage&) { return Status(); });
}

void SupervisorLink::TellFailover(const StartedWorker& worker,
                                  const std::string& device,
                                  const std::string& text) {
  if (!StillServes(worker)) return;
  // If the call fails, operators hear nothing; the application does.
  (void)Call(
      [&](Request::Builder request) {
        auto failed = request.initFailedOver();
        failed.setSession(worker.session);
        failed.setDevice(device);
        failed.setText(CleanText(text, kMaxTextBytes));
      },
      {}, kSlack,
      [](Reply::Reader, ipc::ReceivedMessage&) { return Status(); });
}

void SupervisorLink::TellFailedFailover(const std::string& device,
                                        const std::string& text) {
  {
    std::lock_guard lock(mutex_);
    // A bulkheadd that is started just for this has nobody who listens.
    if (!alive_) return;
  }
  (void)Call(
      [&](Request::Builder request) {
        auto failed = request.initFailedOver();
        failed.setDevice(device);
        failed.setText(CleanText(text, kMaxTextBytes));
        failed.setFailed(true);
      },
      {}, kSlack,
      [](Reply::Reader, ipc::ReceivedMessage&) { return Status(); });
}

Result<std::string> SupervisorLink::FindDevice(const std::string& device) {
  std::string backend;
  RETURN_IF_ERROR(
      Ask([&](Request::Builder request) { request.setFindDevice(device); },
          ListPatience(),
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
  // A backend that is of no use now is no mistake of the application's.
  shadow_device_known_ = true;
  return Status();
}

Status SupervisorLink::Prepare(const std::string& device,
                               CancelSignal* cancel) {
  ASSIGN_OR_RETURN(const auto name, ParseDeviceName(device));
  return Ask(
      [&](Request::Builder request) { request.setPrepare(name.ToString()); },
      StartPatience(), TakeConfigured, cancel);
}

Status SupervisorLink::Command(const std::string& backend,
                               schema::BackendCommand::Action action,
                               CancelSignal* cancel) {
  return Ask(
      [&](Request::Builder request) {
        auto command = request.initCommand();
        command.setBackend(backend);
        command.setAction(action);
      },
      StartPatience(), TakeConfigured, cancel);
}

Result<std::vector<DeviceInfo>> SupervisorLink::Load(const ExplicitLoad& load,
                                                     CancelSignal* cancel) {
  std::vector<DeviceInfo> devices;
  const Status status = Ask(
      [&](Request::Builder request) {
        auto out = request.initLoad();
        out.setPath(load.path);
        out.setEntryPoint(load.entry_point);
      },
      StartPatience(),
      [&](Reply::Reader reply, ipc::ReceivedMessage&) {
        if (!reply.isLoaded()) return UnexpectedReply();
        devices = ToDevices(reply.getLoaded());
        return Status();
      },
      cancel);
  // A backend that is there but does not start, or not yet, stays registered as
  // well.
  if (status.ok() || status.code() == Code::kBackendUnavailable ||
      status.code() == Code::kCancelled) {
    std::lock_guard lock(mutex_);
    if (std::find(loads_.begin(), loads_.end(), load) == loads_.end()) {
      loads_.push_back(load);
    }
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
      Ask([](Request::Builder request) { request.setListBackends(); },
          ListPatience(),
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
      Ask([](Request::Builder request) { request.setDescribeSandbox(); },
          settings_.deadlines.backend_start + ListPatience(),
          [&](Reply::Reader reply, ipc::ReceivedMessage&) {
            if (!reply.isSandbox()) return UnexpectedReply();
            report = ToReport(reply.getSandbox());
            return Status();
          },
          cancel));
  return report;
}

}  // namespace bulkhead::supervisor_link
