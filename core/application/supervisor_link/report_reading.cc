// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/report_reading.h"

#include <iterator>

#include "core/control/capability_messages.h"
#include "core/control/shadow_messages.h"
#include "core/control/text_list.h"

namespace bulkhead::supervisor_link {
namespace {

namespace schema = ipc::schema;

// Returns the capabilities, which bulkheadd has validated.
DeviceCapabilities CapabilitiesOf(schema::KnownDevice::Reader device) {
  TextBudget budget;
  return ReadCapabilities(device.getCapabilities(), nullptr, budget)
      .value_or(DeviceCapabilities());
}

SandboxTier TierOf(schema::Tier tier) { return static_cast<SandboxTier>(tier); }

BackendInfo ToBackendInfo(schema::Backend::Reader backend) {
  static constexpr const char* kStates[] = {
      "discovered",  "starting",    "ready",   "draining",
      "backing-off", "quarantined", "disabled"};
  BackendInfo info;
  info.name = backend.getName().cStr();
  info.distribution = backend.getDistribution().cStr();
  info.version = backend.getVersion().cStr();
  info.file = backend.getFile().cStr();
  const auto state = static_cast<size_t>(backend.getState());
  info.state = state < std::size(kStates) ? kStates[state] : "unknown";
  info.reason = backend.getReason().cStr();
  for (const auto device : backend.getDevices()) {
    info.devices.push_back({.name = device.getName().cStr(),
                            .backend = info.name,
                            .description = device.getDescription().cStr(),
                            .state = info.state,
                            .reason = info.reason,
                            .capabilities = CapabilitiesOf(device)});
  }
  info.start = backend.getStartsByExec() ? "exec" : "clone";
  info.start_reason = backend.getStartReason().cStr();
  info.tier = TierOf(backend.getTier());
  info.incarnation = backend.getIncarnation();
  info.zygote_pid = backend.getZygotePid();
  info.reaper_pid = backend.getReaperPid();
  for (int pid : backend.getSessionPids()) info.session_pids.push_back(pid);
  info.asked = ToStrings(backend.getAsked());
  info.streams = ToStrings(backend.getStreams());
  info.granted = ToStrings(backend.getGranted());
  info.shadow = ToShadowReport(backend.getShadow());
  return info;
}

}  // namespace

void AddTo(BackendReport& report, schema::Backends::Reader backends) {
  for (const auto backend : backends.getBackends()) {
    report.backends.push_back(ToBackendInfo(backend));
  }
  for (const auto diagnostic : backends.getDiagnostics()) {
    report.diagnostics.push_back(
        {static_cast<Diagnostic::Severity>(diagnostic.getSeverity()),
         diagnostic.getFile().cStr(), diagnostic.getLine(),
         diagnostic.getMessage().cStr()});
  }
  for (const auto place : backends.getPlaces()) {
    report.places.push_back({place.getPath().cStr(), place.getOrigin().cStr(),
                             place.getOutcome().cStr()});
  }
}

SandboxReport ToReport(schema::SandboxReport::Reader sandbox) {
  SandboxReport report{};
  report.tier = TierOf(sandbox.getTier());
  for (const auto gap : sandbox.getGaps()) {
    const SandboxGap& read = report.gaps.emplace_back(
        SandboxGap{gap.getMissing().cStr(), gap.getEvidence().cStr(),
                   gap.getRemedy().cStr(), gap.getCost().cStr()});
    report.reasons.push_back(read.missing + ": " + read.evidence);
  }
  report.landlock_abi = sandbox.getLandlockAbi();
  report.own_uid = sandbox.getOwnUid();
  report.cgroup = sandbox.getCgroup().cStr();
  report.cgroup_controllers = ToStrings(sandbox.getCgroupControllers());
  report.memory_cgroup_required = sandbox.getMemoryCgroupRequired();
  return report;
}

std::vector<DeviceInfo> ToDevices(
    capnp::List<schema::KnownDevice>::Reader devices) {
  std::vector<DeviceInfo> infos;
  for (const auto device : devices) {
    infos.push_back({.name = device.getName().cStr(),
                     .backend = device.getBackend().cStr(),
                     .description = device.getDescription().cStr(),
                     .state = "ready",
                     .reason = "",
                     .capabilities = CapabilitiesOf(device)});
  }
  return infos;
}

}  // namespace bulkhead::supervisor_link
