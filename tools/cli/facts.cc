// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/facts.h"

#include <nlohmann/json.hpp>

#include "core/application/writers/output.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json FactsOf(const EntryPoints& entry_points) {
  Json facts = Json::array();
  for (const EntryPoint& entry_point : entry_points) {
    facts.push_back({
        {"name", entry_point.name},
        {"value", entry_point.value},
        {"module", entry_point.module},
        {"attr", entry_point.attr.empty() ? Json() : Json(entry_point.attr)},
        {"extras", entry_point.extras},
        {"group", entry_point.group},
        {"distribution", entry_point.distribution},
        {"version", entry_point.version},
        {"file", entry_point.file},
        {"line", entry_point.line},
    });
  }
  return facts;
}

Json FactsOf(const Status& failure) {
  return Json{{"code", CodeName(failure.code())},
              {"message", failure.message()}};
}

Json FactsOf(const Diagnostics& diagnostics) {
  Json facts = Json::array();
  for (const Diagnostic& diagnostic : diagnostics) {
    facts.push_back({
        {"file", diagnostic.file},
        {"line", diagnostic.line},
        {"severity", SeverityName(diagnostic.severity)},
        {"message", diagnostic.message},
    });
  }
  return facts;
}

Json FactsOf(const std::vector<SearchedPlace>& places) {
  Json facts = Json::array();
  for (const SearchedPlace& place : places) {
    facts.push_back({
        {"path", place.path},
        {"origin", place.origin},
        {"outcome", place.outcome},
    });
  }
  return facts;
}

Json FactsOf(const DeviceCapabilities& capabilities) {
  Json streams = Json::array();
  for (const StreamCapability& stream : capabilities.streams) {
    streams.push_back({
        {"kind", stream.kind},
        {"codecs", stream.codecs},
        {"profiles", stream.profiles},
        {"formats", stream.formats},
        {"max_width", stream.max_width},
        {"max_height", stream.max_height},
    });
  }
  return Json{{"streams", streams},
              {"max_sessions", capabilities.max_sessions},
              {"outputs", capabilities.outputs}};
}

Json FactsOf(const BackendReport& report) {
  Json backends = Json::array();
  for (const BackendInfo& backend : report.backends) {
    Json devices = Json::array();
    for (const DeviceInfo& device : backend.devices) {
      devices.push_back({{"name", device.name},
                         {"description", device.description},
                         {"capabilities", FactsOf(device.capabilities)}});
    }
    backends.push_back({
        {"name", backend.name},
        {"distribution", backend.distribution},
        {"version", backend.version},
        {"file", backend.file},
        {"state", backend.state},
        {"reason", backend.reason},
        {"devices", devices},
        {"start", backend.start},
        {"start_reason", backend.start_reason},
        {"sandbox_tier", SandboxTierName(backend.tier)},
        {"incarnation", backend.incarnation},
        {"zygote_pid", PidFact(backend.zygote_pid)},
        {"reaper_pid", PidFact(backend.reaper_pid)},
        {"session_pids", backend.session_pids},
        {"streams", backend.streams},
        {"asked", backend.asked},
        {"granted", backend.granted},
        {"shadow", FactsOf(backend.shadow)},
    });
  }
  return Json{{"backends", backends},
              {"diagnostics", FactsOf(report.diagnostics)},
              {"places", FactsOf(report.places)}};
}

Json FactsOf(const ShadowReport& report) {
  Json first;
  if (report.first) {
    first = {
        {"path", report.first->path},   {"device", report.first->device},
        {"frame", report.first->frame}, {"seconds", report.first->seconds},
        {"words", report.first->words}, {"compared", report.first->compared}};
  }
  return Json{{"streams", report.streams},
              {"failed", report.failed},
              {"last_failure", report.last_failure},
              {"compared", report.compared},
              {"differing", report.differing},
              {"not_compared", report.not_compared},
              {"first", first},
              {"trials", report.trials},
              {"failed_trials", report.failed_trials},
              {"last_trial", report.last_trial}};
}

Json FactsOf(const SandboxReport& report) {
  Json gaps = Json::array();
  for (const SandboxGap& gap : report.gaps) {
    gaps.push_back({{"missing", gap.missing},
                    {"evidence", gap.evidence},
                    {"remedy", gap.remedy},
                    {"cost", gap.cost}});
  }
  return Json{
      {"tier", SandboxTierName(report.tier)},
      {"gaps", gaps},
      {"landlock_abi", report.landlock_abi},
      {"own_uid", report.own_uid},
      {"cgroup", report.cgroup},
      {"cgroup_controllers", report.cgroup_controllers},
      {"memory_cgroup_required", report.memory_cgroup_required},
  };
}

Json PidFact(int pid) { return pid > 0 ? Json(pid) : Json(); }

int PrintFacts(const Json& facts) {
  Result<std::unique_ptr<writers::Output>> output = writers::Output::Open("-");
  if (!output) return Fail(output.error());
  const std::string text =
      facts.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
  Status status = (*output)->Write(text);
  if (status.ok()) status = (*output)->Close();
  if (status.ok() || (*output)->reader_gone()) return 0;
  return Fail(status);
}

void PrintFailure(const std::string& file, const Status& failure) {
  (void)PrintFacts({{"file", file}, {"error", FactsOf(failure)}});
}

int FailFile(const std::string& file, const Status& failure, bool json) {
  if (json) PrintFailure(file, failure);
  return Fail(failure);
}

}  // namespace bulkhead::cli
