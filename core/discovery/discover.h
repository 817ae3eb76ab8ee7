// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/device_name.h"
#include "core/discovery/explicit_load.h"
#include "core/discovery/file_identity.h"
#include "core/discovery/manifest.h"
#include "core/discovery/own_clips.h"
#include "core/discovery/plugin_path.h"
#include "core/discovery/scan.h"
#include "core/discovery/selection.h"
#include "core/grants/grants.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/entry_point.h"
#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {

// The versions of the C ABI that Bulkhead supports: BULKHEAD_ABI_MIN_VERSION
// and BULKHEAD_ABI_VERSION in backends/sdk/bulkhead_backend.h. core does not
// include that header; a test compares the values.
inline constexpr AbiVersions kBackendAbi{1, 1};

// An installed backend, whether or not it can be used. Discovery runs none of
// its code. A plain value.
struct BackendCandidate {
  enum class Standing {
    kUsable,
    kDisabled,  // Disabled by the operator; `reason` names the rule.
    kBroken,    // `reason` says what to repair.
  };

  EntryPoint entry_point;
  Manifest manifest;
  std::string directory;    // The directory that holds the dist-info.
  std::string dist_info;    // The path of the dist-info directory.
  std::string plugin_path;  // The shared object, relative to `directory`.
  std::string plugin_hash;  // From RECORD, or empty; see record_hash.h.
  FileIdentity plugin_identity;
  // A digest of RECORD's rows: another value means that the rows have changed.
  size_t record_digest = 0;
  // The number of files that RECORD names, not counting the shared object and
  // the files of the dist-info.
  size_t files_beside = 0;
  std::vector<OwnClip> own_clips;  // The clips that the manifest names.
  // The devices of the manifest that callers reach by the bare name
  // ("openreg:0"). If an earlier backend has a device of the same name, the
  // device is not listed here; callers reach it as BACKEND/DEVICE.
  std::vector<std::string> devices;
  bool built_in = false;  // One of Bulkhead's own backends.
  // kExec if the manifest asks for it or the operator requires it. `start_rule`
  // then says who decided so; it is empty for kClone.
  Manifest::Start start = Manifest::Start::kClone;
  std::string start_rule;
  Standing standing = Standing::kUsable;
  std::string reason;  // A clause; empty if usable.

  const std::string& name() const { return entry_point.name; }
  bool usable() const { return standing == Standing::kUsable; }
  bool operator==(const BackendCandidate& other) const;
};

// The result of Discover.
struct Discovery {
  std::vector<BackendCandidate> backends;  // In order of precedence.
  Diagnostics diagnostics;
  std::vector<SearchedPlace> places;
  // Counts what was read. Tests compare counts, since times are noisy.
  struct Work {
    size_t backends = 0;  // Backends whose files were read.
    size_t files = 0;     // Files that were read: bulkhead.toml and RECORD.
    size_t rows = 0;      // Rows of RECORD.
    size_t bytes = 0;     // Bytes of bulkhead.toml.
  } work;
};

// The bounds of one Discover(), which blocks bulkheadd's event loop.
inline constexpr size_t kMaxBackendsOfOne = 32;  // In one distribution.
inline constexpr size_t kMaxBackendsOfAll = 2048;
// The most bytes of RECORD and bulkhead.toml of all distributions together.
// Bytes of bulkhead.toml count several times (reading_bounds.cc).
// distribution.h and common_files.h bound each file.
inline constexpr size_t kMaxBytesOfAll = size_t{16} << 20;

// Finds the backends in a scan. These are the entry points of the group
// bulkhead.backends, each with its manifest and its shared object, followed by
// the backends that were loaded explicitly.
//
// Never fails: a problem of one backend makes that backend kBroken and affects
// no other. A second backend of the same name is broken. A broken backend keeps
// its device names: a request for such a device reports the problem instead of
// getting another backend's device. A disabled backend leaves its device names
// to other backends.
//
// If `selection` excludes a backend, only its name is read. For all other
// backends, RECORD and bulkhead.toml of their distributions are read, each
// once, and no other file. The files that a backend can read in its sandbox are
// found later, when it is started (package_files.h). If a distribution exceeds
// a bound, its files are not read, and its backends are broken.
//
// The names of Bulkhead's own backends are reserved (reserved_names.h): a
// package that claims one is broken, unless `grants` have `reserved_name` for
// it.
//
// Deterministic and thread-safe. Blocks only as long as the file system does.
//
//   Environment environment = Environment::FromProcess();
//   ASSIGN_OR_RETURN(Selection selection,
//                    Selection::FromEnvironment(environment));
//   PluginPath path = ResolvePluginPath(environment, built_in);
//   Discovery found = Discover(ScanPluginPath(path.directories), selection);
Discovery Discover(const Scan& scan, const Selection& selection,
                   const std::vector<ExplicitLoad>& loads = {},
                   const std::vector<grants::Grant>& grants = {});

// Returns the reason why a backend that discovery regards as usable has failed
// since, or an empty string.
using FailureOf = std::function<std::string(const BackendCandidate&)>;

// Returns the usable backend of `device`, as a pointer into `discovery`. Fails
// with kBackendUnavailable if only disabled or broken backends have that
// device; the message says why. Fails with kNotFound if there is no such
// device; the message lists the existing devices, the disabled backends with
// the rule, the failed backends with the cause, and each place that was
// searched.
Result<const BackendCandidate*> FindBackend(const Discovery& discovery,
                                            const DeviceName& device,
                                            const FailureOf& failure_of = {});

// Returns the error for requests that name a device of an unusable candidate.
Status Unavailable(const BackendCandidate& backend);

// Returns the name by which a caller reaches a device of `backend`:
// "openreg:0", or "BACKEND/openreg:0" if the bare name belongs to another
// backend.
std::string CallersName(const BackendCandidate& backend,
                        const std::string& device);

// Returns the distribution of a backend. Sets only the directory, the name of
// the dist-info folder and the normalized name.
Distribution DistributionOf(const BackendCandidate& backend);

// The opened directory and shared object of a backend. OpenBackend opens both
// by their paths, so they may be newer than those that discovery saw.
struct OpenedBackend {
  ipc::UniqueFd directory;
  ipc::UniqueFd plugin;
};
Result<OpenedBackend> OpenBackend(const BackendCandidate& backend);

// Returns the message for requests that name a device of a backend which cannot
// be loaded.
std::string LoadFailureMessage(const EntryPoint& entry_point,
                               const std::string& cause);

}  // namespace bulkhead::discovery
