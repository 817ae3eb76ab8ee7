// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/facts.h"

#include <nlohmann/json.hpp>

#include "tools/cli/output.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json FactsOf(const Ratio& ratio) {
  if (ratio.denominator == 0) return Json();
  return Json{{"numerator", ratio.numerator},
              {"denominator", ratio.denominator}};
}

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

Json FactsOf(const BackendReport& report) {
  Json backends = Json::array();
  for (const BackendInfo& backend : report.backends) {
    Json devices = Json::array();
    for (const DeviceInfo& device : backend.devices) {
      devices.push_back(
          {{"name", device.name}, {"description", device.description}});
    }
    backends.push_back({
        {"name", backend.name},
        {"distribution", backend.distribution},
        {"version", backend.version},
        {"file", backend.file},
        {"state", backend.state},
        {"reason", backend.reason},
        {"devices", devices},
        {"sandbox_tier", SandboxTierName(backend.tier)},
        {"incarnation", backend.incarnation},
        {"zygote_pid", backend.zygote_pid},
        {"reaper_pid", backend.reaper_pid},
        {"session_pids", backend.session_pids},
        {"asked", backend.asked},
        {"granted", backend.granted},
    });
  }
  return Json{{"backends", backends},
              {"diagnostics", FactsOf(report.diagnostics)},
              {"places", FactsOf(report.places)}};
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
  };
}

Json FactsOf(const VideoMetadata& metadata) {
  return Json{
      {"stream_index", metadata.stream_index},
      {"stream_count", metadata.stream_count},
      {"container", metadata.container},
      {"codec", metadata.codec},
      {"pixel_format", metadata.pixel_format},
      {"width", metadata.width},
      {"height", metadata.height},
      {"rotation", metadata.rotation},
      {"time_base", FactsOf(metadata.time_base)},
      {"average_frame_rate", FactsOf(metadata.average_frame_rate)},
      {"sample_aspect_ratio", FactsOf(metadata.sample_aspect_ratio)},
      {"frame_count_from_header", OrNull(metadata.frame_count_from_header)},
      {"duration_seconds_from_header",
       OrNull(metadata.duration_seconds_from_header)},
      {"begin_seconds_from_header", OrNull(metadata.begin_seconds_from_header)},
      {"bit_rate", metadata.bit_rate},
      {"color_primaries", metadata.color_primaries},
      {"color_transfer", metadata.color_transfer},
      {"color_space", metadata.color_space},
      {"color_range", metadata.color_range},
      {"backend", metadata.backend},
      {"device", metadata.device},
  };
}

int PrintFacts(const Json& facts) {
  Result<std::unique_ptr<Output>> output = Output::Open("-");
  if (!output) return Fail(output.error());
  const std::string text =
      facts.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  Status status = (*output)->Write(text);
  if (status.ok()) status = (*output)->Close();
  if (status.ok() || (*output)->reader_gone()) return 0;
  return Fail(status);
}

}  // namespace bulkhead::cli
