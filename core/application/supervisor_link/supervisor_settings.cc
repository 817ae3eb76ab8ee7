// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/supervisor_settings.h"

#include "ipc/protocol_version.h"

namespace bulkhead::supervisor_link {
namespace {

namespace schema = ipc::schema;

void FillTexts(capnp::List<capnp::Text>::Builder list,
               const std::vector<std::string>& texts) {
  for (size_t i = 0; i < texts.size(); ++i) list.set(i, texts[i]);
}

}  // namespace

void Write(const SupervisorSettings& settings,
           const std::vector<ExplicitLoad>& loads,
           schema::Configuration::Builder out) {
  out.setProtocolVersion(ipc::kProtocolVersion);
  const auto& path = settings.plugin_path.directories;
  auto directories = out.initPluginPath(path.size());
  for (size_t i = 0; i < path.size(); ++i) {
    directories[i].setPath(path[i].path);
    directories[i].setOrigin(path[i].origin);
    directories[i].setBuiltIn(path[i].built_in);
  }
  const discovery::Selection& selection = settings.selection;
  out.setAutoload(selection.autoload);
  out.setAutoloadRule(selection.autoload_rule);
  out.setEnabledRule(selection.enabled_rule);
  out.setDisabledRule(selection.disabled_rule);
  FillTexts(out.initEnabled(selection.enabled.size()), selection.enabled);
  FillTexts(out.initDisabled(selection.disabled.size()), selection.disabled);
  out.setExecRule(selection.exec_rule);
  FillTexts(out.initExec(selection.exec.size()), selection.exec);
  out.setEager(settings.eager);
  const auto grant_files = settings.grant_files.all();
  auto grants = out.initGrantFiles(grant_files.size());
  for (size_t i = 0; i < grant_files.size(); ++i) {
    grants.set(i, grant_files[i].path);
  }
  auto list = out.initLoads(loads.size());
  for (size_t i = 0; i < loads.size(); ++i) {
    list[i].setPath(loads[i].path);
    list[i].setEntryPoint(loads[i].entry_point);
  }
  out.setFloor(static_cast<schema::Tier>(settings.floor));
  out.setCgroup(settings.cgroup);
  out.setRequireMemoryCgroup(settings.require_memory_cgroup);
  out.setReaperPath(settings.programs.reaper_path());
  out.setWorkerPath(settings.programs.worker_path());
  out.setStartDeadlineMs(settings.deadlines.backend_start.count());
  out.setWorkerDeadlineMs(settings.deadlines.worker_start.count());
  out.setAttemptsPerPosition(settings.limits.attempts_per_position);
  out.setFailuresPerBackend(settings.limits.failures_per_backend);
  out.setStateDirectory(settings.state_directory);
}

}  // namespace bulkhead::supervisor_link
