// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/device_name.h"
#include "core/discovery/entry_points.h"
#include "core/discovery/explicit_load.h"
#include "core/discovery/manifest.h"
#include "core/discovery/plugin_path.h"
#include "core/discovery/scan.h"
#include "core/discovery/selection.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {

// BULKHEAD_ABI_VERSION of backends/sdk/bulkhead_backend.h, which core does not
// see; a test compares them.
inline constexpr int64_t kBackendAbi = 1;

// Which file a path meant, and in which state: another one means that it was
// written or replaced.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t bytes = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;

  bool operator==(const FileIdentity&) const = default;
};

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
  std::string dist_info;    // The path of it.
  std::string plugin_path;  // The object, below `directory`.
  std::string plugin_hash;  // RECORD's for it, or empty; see record_hash.h.
  FileIdentity plugin_identity;
  std::vector<std::string>
      visible_paths;  // Below `directory`; see VisiblePaths.
  // Those of manifest.devices that its bare name means. The others belong to
  // an earlier backend and are reached as BACKEND/DEVICE.
  std::vector<std::string> devices;
  Standing standing = Standing::kUsable;
  std::string reason;

  const std::string& name() const { return entry_point.name; }
  bool usable() const { return standing == Standing::kUsable; }
  bool operator==(const BackendCandidate& other) const;
};

struct Discovery {
  std::vector<BackendCandidate> backends;  // In the order of precedence.
  Diagnostics diagnostics;
  std::vector<SearchedPlace> places;
};

// Finds the backends in a scan: the entry points of group bulkhead.backends,
// each with its manifest and its shared object, and those that were loaded
// explicitly, which come last. Deterministic; never fails; what is wrong with
// one backend makes that one kBroken, and the rest is as if it were not there.
// A backend's name is its own: a second one of the same name is broken. A
// broken backend keeps its devices, so that asking for one says what is wrong
// instead of getting another's; a disabled one does not. Thread-safe. Blocks
// only as long as the file system does.
//
//   Environment environment = Environment::FromProcess();
//   ASSIGN_OR_RETURN(Selection selection,
//                    Selection::FromEnvironment(environment));
//   PluginPath path = ResolvePluginPath({}, environment, built_in);
//   Discovery found = Discover(ScanPluginPath(path.directories), selection);
Discovery Discover(const Scan& scan, const Selection& selection,
                   const std::vector<ExplicitLoad>& loads = {});

// Why a backend that discovery takes for usable is not; empty if it is.
using FailureOf = std::function<std::string(const BackendCandidate&)>;

// The usable backend that `device` means. kNotFound lists the devices there
// are, the backends that are disabled, by which rule, those that failed, from
// which cause, and each place that was searched; kBackendUnavailable says why
// the one that is there is disabled or broken. The pointer is into `discovery`.
Result<const BackendCandidate*> FindBackend(const Discovery& discovery,
                                            const DeviceName& device,
                                            const FailureOf& failure_of = {});

// Why a candidate cannot be used, as its devices say it when asked for.
Status Unavailable(const BackendCandidate& backend);

// How a caller names the device of that backend: "openreg:0", or
// "BACKEND/openreg:0" where the bare name means another backend's.
std::string CallersName(const BackendCandidate& backend,
                        const std::string& device);

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
