// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/application/supervisor_link/installed_programs.h"
#include "core/discovery/plugin_path.h"
#include "core/discovery/selection.h"
#include "core/grants/grant_files.h"
#include "core/include/bulkhead/host_options.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor_link {

// The settings of a Host, which its bulkheadd receives when it is started (and
// so does each successor). The members mean the same as in HostOptions; options
// that the application left out have been set from environment and defaults.
struct SupervisorSettings {
  InstalledPrograms programs{std::string()};
  discovery::PluginPath plugin_path;
  discovery::Selection selection;
  grants::GrantFiles grant_files;
  bool eager = false;  // backends start before a session needs them
  SandboxTier floor = SandboxTier::kFull;  // the lowest acceptable tier
  std::string cgroup;                      // empty: bulkheadd looks for one
  bool require_memory_cgroup = false;
  Deadlines deadlines;
  std::string state_directory;  // empty: nothing outlives the process
  Limits limits;
  std::optional<ShadowOptions> shadow;
  EventObserver on_event;  // may be empty
};

// A request of the application to load backends that are not on the plugin
// path (Host::LoadBackend()).
struct ExplicitLoad {
  std::string path;
  std::string entry_point;  // empty: all entry points of the distribution

  bool operator==(const ExplicitLoad&) const = default;
};

// Writes the first message to a bulkheadd that has just been started. `loads`
// are all loads that the application has requested so far: the bulkheadd that
// replaces a dead one performs them again.
void Write(const SupervisorSettings& settings,
           const std::vector<ExplicitLoad>& loads,
           ipc::schema::Configuration::Builder out);

}  // namespace bulkhead::supervisor_link
