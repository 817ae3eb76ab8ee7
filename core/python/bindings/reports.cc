// SPDX-License-Identifier: Apache-2.0
#include "bulkhead/reports.h"

#include <string>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "core/python/bindings/definitions.h"
#include "core/python/bindings/gil.h"
#include "core/python/bindings/record.h"

namespace bulkhead::python {
namespace {

namespace py = pybind11;

void DefineDevices(py::module_& module) {
  Record<StreamCapability>(module, "StreamCapability",
                           "Streams that a device says it decodes.")
      .field("kind", &StreamCapability::kind)
      .field("codecs", &StreamCapability::codecs)
      .field("profiles", &StreamCapability::profiles)
      .field("formats", &StreamCapability::formats)
      .field("max_width", &StreamCapability::max_width)
      .field("max_height", &StreamCapability::max_height);
  Record<DeviceCapabilities>(
      module, "DeviceCapabilities",
      "The abilities of a device, in the backend's words.")
      .field("streams", &DeviceCapabilities::streams)
      .field("max_sessions", &DeviceCapabilities::max_sessions)
      .field("outputs", &DeviceCapabilities::outputs);
  Record<DeviceInfo>(module, "DeviceInfo", "One device of one backend.")
      .field("name", &DeviceInfo::name)
      .field("backend", &DeviceInfo::backend)
      .field("description", &DeviceInfo::description)
      .field("state", &DeviceInfo::state)
      .field("reason", &DeviceInfo::reason)
      .field("capabilities", &DeviceInfo::capabilities);
}

void DefineShadow(py::module_& module) {
  Record<ShadowDifference>(module, "ShadowDifference",
                           "The first difference that a comparison found.")
      .field("path", &ShadowDifference::path)
      .field("device", &ShadowDifference::device)
      .field("frame", &ShadowDifference::frame)
      .field("seconds", &ShadowDifference::seconds)
      .field("words", &ShadowDifference::words)
      .field("compared", &ShadowDifference::compared);
  Record<ShadowReport>(module, "ShadowReport",
                       "The comparisons of a backend's streams.")
      .field("streams", &ShadowReport::streams)
      .field("failed", &ShadowReport::failed)
      .field("last_failure", &ShadowReport::last_failure)
      .field("compared", &ShadowReport::compared)
      .field("differing", &ShadowReport::differing)
      .field("not_compared", &ShadowReport::not_compared)
      .field("first", &ShadowReport::first)
      .field("trials", &ShadowReport::trials)
      .field("failed_trials", &ShadowReport::failed_trials)
      .field("last_trial", &ShadowReport::last_trial);
}

void DefineBackends(py::module_& module) {
  Record<Diagnostic>(module, "Diagnostic",
                     "One remark about an item on the plugin path.")
      .computed(
          "severity",
          [](const Diagnostic& self) { return SeverityName(self.severity); })
      .field("file", &Diagnostic::file)
      .field("line", &Diagnostic::line)
      .field("message", &Diagnostic::message);
  Record<SearchedPlace>(module, "SearchedPlace",
                        "One directory of the plugin path.")
      .field("path", &SearchedPlace::path)
      .field("origin", &SearchedPlace::origin)
      .field("outcome", &SearchedPlace::outcome);
  Record<BackendInfo>(module, "BackendInfo", "One backend and its processes.")
      .field("name", &BackendInfo::name)
      .field("distribution", &BackendInfo::distribution)
      .field("version", &BackendInfo::version)
      .field("file", &BackendInfo::file)
      .field("state", &BackendInfo::state)
      .field("reason", &BackendInfo::reason)
      .field("devices", &BackendInfo::devices)
      .field("streams", &BackendInfo::streams)
      .field("start", &BackendInfo::start)
      .field("start_reason", &BackendInfo::start_reason)
      .computed(
          "tier",
          [](const BackendInfo& self) { return SandboxTierName(self.tier); })
      .field("incarnation", &BackendInfo::incarnation)
      .field("zygote_pid", &BackendInfo::zygote_pid)
      .field("reaper_pid", &BackendInfo::reaper_pid)
      .field("session_pids", &BackendInfo::session_pids)
      .field("asked", &BackendInfo::asked)
      .field("granted", &BackendInfo::granted)
      .field("shadow", &BackendInfo::shadow);
  Record<BackendReport>(module, "BackendReport",
                        "The backends of a Host and how they were found.")
      .field("backends", &BackendReport::backends)
      .field("diagnostics", &BackendReport::diagnostics)
      .field("places", &BackendReport::places);
}

void DefineSandbox(py::module_& module) {
  Record<SandboxGap>(module, "SandboxGap",
                     "A part of the sandbox that this machine lacks.")
      .field("missing", &SandboxGap::missing)
      .field("evidence", &SandboxGap::evidence)
      .field("remedy", &SandboxGap::remedy)
      .field("cost", &SandboxGap::cost);
  Record<SandboxReport>(module, "SandboxReport",
                        "The sandbox in force on this machine.")
      .computed(
          "tier",
          [](const SandboxReport& self) { return SandboxTierName(self.tier); })
      .field("gaps", &SandboxReport::gaps)
      .field("reasons", &SandboxReport::reasons)
      .field("landlock_abi", &SandboxReport::landlock_abi)
      .field("own_uid", &SandboxReport::own_uid)
      .field("cgroup", &SandboxReport::cgroup)
      .field("cgroup_controllers", &SandboxReport::cgroup_controllers)
      .field("memory_cgroup_required", &SandboxReport::memory_cgroup_required);
}

void DefineEntryPoints(py::module_& module) {
  Record<EntryPoint>(module, "EntryPoint",
                     "One line of an installed entry_points.txt.")
      .field("name", &EntryPoint::name)
      .field("value", &EntryPoint::value)
      .field("group", &EntryPoint::group)
      .field("distribution", &EntryPoint::distribution)
      .field("version", &EntryPoint::version)
      .field("file", &EntryPoint::file)
      .field("line", &EntryPoint::line);
  module.def(
      "find_entry_points",
      [](const std::vector<std::string>& directories) {
        const EntryPointReport report = FindEntryPoints(directories);
        return std::vector<EntryPoint>(report.entry_points.begin(),
                                       report.entry_points.end());
      },
      py::call_guard<WithoutGil>(), py::arg("directories"));
}

}  // namespace

void DefineReports(py::module_& module) {
  DefineDevices(module);
  DefineShadow(module);
  DefineBackends(module);
  DefineSandbox(module);
  DefineEntryPoints(module);
}

}  // namespace bulkhead::python
