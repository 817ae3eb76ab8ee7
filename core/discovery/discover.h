// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/discovery/device_name.h"
#include "core/discovery/entry_points.h"
#include "core/discovery/manifest.h"
#include "core/discovery/plugin_path.h"
#include "core/discovery/scan.h"
#include "core/discovery/selection.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {

// A backend that is installed, whether or not it can be used. Nothing of it
// has been run. A value.
struct BackendCandidate {
  enum class Standing {
    kUsable,
    kDisabled,  // By the operator; `reason` names the rule.
    kBroken,    // `reason` is what to repair.
  };

  EntryPoint entry_point;
  Manifest manifest;
  std::string directory;    // That holds the dist-info.
  std::string plugin_path;  // The object, below `directory`.
  std::string plugin_hash;  // RECORD's for it, or empty.
  std::vector<std::string>
      visible_paths;  // Below `directory`; see VisiblePaths.
  // Those of manifest.devices that its bare name means. The others belong to
  // an earlier backend and are reached as BACKEND/DEVICE.
  std::vector<std::string> devices;
  Standing standing = Standing::kUsable;
  std::string reason;

  const std::string& name() const { return entry_point.name; }
  bool usable() const { return standing == Standing::kUsable; }
};

struct Discovery {
  std::vector<BackendCandidate> backends;  // In the order of precedence.
  Diagnostics diagnostics;
  std::vector<SearchedPlace> places;
};

// Finds the backends on the path: the entry points of group bulkhead.backends,
// each with its manifest and its shared object. Deterministic; never fails;
// what is wrong with one backend makes that one kBroken, and the rest is as if
// it were not there. A backend's name is its own: a second one of the same
// name is broken. A broken backend keeps its devices, so that asking for one
// says what is wrong instead of getting another's; a disabled one does not.
// Thread-safe. Blocks only as long as the file system does.
//
//   Environment environment = Environment::FromProcess();
//   ASSIGN_OR_RETURN(Selection selection,
//                    Selection::FromEnvironment(environment));
//   PluginPath path = ResolvePluginPath(environment, built_in);
//   Discovery found = Discover(path.directories, selection);
Discovery Discover(const std::vector<SearchDirectory>& plugin_path,
                   const Selection& selection);

// The usable backend that `device` means. kNotFound lists what there is and
// where it was looked for; kBackendUnavailable says why the one that is there
// is disabled or broken. The pointer is into `discovery`.
Result<const BackendCandidate*> FindBackend(const Discovery& discovery,
                                            const DeviceName& device);

// The backend's files, opened anew and checked again.
struct OpenedBackend {
  ipc::UniqueFd directory;
  ipc::UniqueFd plugin;
};
Result<OpenedBackend> OpenBackend(const BackendCandidate& backend);

// The message with which the devices of a backend fail that cannot be loaded.
std::string LoadFailureMessage(const EntryPoint& entry_point,
                               const std::string& cause);

}  // namespace bulkhead::discovery
