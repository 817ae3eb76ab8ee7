// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/discover.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "core/discovery/bounded_file.h"
#include "core/discovery/plugin_file.h"
#include "core/discovery/text.h"
#include "core/status_macros.h"

namespace bulkhead::discovery {
namespace {

using Standing = BackendCandidate::Standing;

constexpr size_t kMaxSymbolBytes = 256;

Result<ipc::UniqueFd> OpenDirectory(const std::string& path) {
  ipc::UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) return fd;
  return Status(Code::kBackendUnavailable,
                path + ": " + std::generic_category().message(errno));
}

Result<Manifest> ReadManifest(int directory, const Distribution& distribution,
                              const EntryPoint& entry_point,
                              Diagnostics& diagnostics) {
  const Result<std::string> text =
      ReadFileBeneath(directory, distribution.dist_info + "/bulkhead.toml");
  if (!text && text.error().code() != Code::kNotFound) return text.error();
  if (!text) {
    Manifest manifest;
    manifest.devices = {entry_point.name};
    return manifest;
  }
  ParsedManifest parsed =
      ParseManifest(*text, distribution.dist_info_path() + "/bulkhead.toml",
                    entry_point.name);
  diagnostics.insert(diagnostics.end(), parsed.diagnostics.begin(),
                     parsed.diagnostics.end());
  if (!parsed.manifest) return Status(Code::kUnsupported, parsed.refusal);
  return *std::move(parsed.manifest);
}

// Fills in everything that is read from the distribution's files.
Status Complete(const Distribution& distribution, Diagnostics& diagnostics,
                BackendCandidate& candidate) {
  const EntryPoint& entry_point = candidate.entry_point;
  if (entry_point.attr.empty() || entry_point.attr.size() > kMaxSymbolBytes ||
      entry_point.attr.find('.') != std::string::npos) {
    return Status(Code::kInvalidArgument,
                  "the value " + Quoted(entry_point.value) +
                      " names no symbol: it should read module:symbol");
  }
  ASSIGN_OR_RETURN(const ipc::UniqueFd directory,
                   OpenDirectory(distribution.directory));
  ASSIGN_OR_RETURN(
      candidate.manifest,
      ReadManifest(directory.get(), distribution, entry_point, diagnostics));
  ASSIGN_OR_RETURN(const PluginFile plugin,
                   OpenPluginFile(directory.get(), entry_point.module));
  candidate.plugin_path = plugin.path;

  using Record = std::optional<std::vector<RecordedFile>>;
  ASSIGN_OR_RETURN(const Record record,
                   ReadRecord(directory.get(), distribution, diagnostics));
  ASSIGN_OR_RETURN(candidate.visible_paths, VisiblePaths(record, plugin.path));
  for (const RecordedFile& file :
       record.value_or(std::vector<RecordedFile>())) {
    if (file.path == plugin.path) candidate.plugin_hash = file.hash;
  }
  return Status();
}

// Gives out names of backends and devices, each once.
class Claims {
 public:
  // Breaks a candidate whose name is taken, takes its devices otherwise.
  void Settle(BackendCandidate& candidate, Diagnostics& diagnostics) {
    const EntryPoint& entry_point = candidate.entry_point;
    if (candidate.standing == Standing::kDisabled) return;
    const auto [first, is_new] =
        backends_.try_emplace(candidate.name(), entry_point.file);
    if (!is_new) {
      candidate.standing = Standing::kBroken;
      candidate.reason = "a backend of this name is defined by " +
                         first->second + ", which comes first";
      return;
    }
    for (const std::string& device : candidate.manifest.devices) {
      const auto [holder, is_free] =
          devices_.try_emplace(device, candidate.name());
      if (is_free) {
        candidate.devices.push_back(device);
        continue;
      }
      diagnostics.push_back(
          {Diagnostic::Severity::kWarning, entry_point.file, entry_point.line,
           "the device " + device + " is that of the backend " +
               holder->second + ", which comes first; this one is " +
               candidate.name() + "/" + device});
    }
  }

 private:
  std::map<std::string, std::string> backends_;  // To the file.
  std::map<std::string, std::string> devices_;   // To the backend.
};

bool Offers(const BackendCandidate& backend, const DeviceName& device) {
  if (device.backend.empty()) {
    // A disabled backend claims no device but is what an asker may have meant.
    const std::vector<std::string>& names =
        backend.standing == Standing::kDisabled ? backend.manifest.devices
                                                : backend.devices;
    return std::find(names.begin(), names.end(), device.name) != names.end();
  }
  const std::vector<std::string>& all = backend.manifest.devices;
  return backend.name() == device.backend &&
         std::find(all.begin(), all.end(), device.name) != all.end();
}

Status Unavailable(const BackendCandidate& backend, const DeviceName& device) {
  if (backend.standing == Standing::kBroken) {
    return Status(Code::kBackendUnavailable,
                  LoadFailureMessage(backend.entry_point, backend.reason));
  }
  return Status(Code::kBackendUnavailable,
                "the device " + Quoted(device.ToString()) +
                    " is not available: the backend " + backend.name() +
                    " is " + backend.reason);
}

std::string WhatThereIs(const Discovery& discovery) {
  std::string known;
  std::string rest;
  for (const BackendCandidate& backend : discovery.backends) {
    if (!backend.usable()) {
      rest += "; the backend " + backend.name() + " is " +
              (backend.standing == Standing::kBroken ? "broken: " : "") +
              backend.reason;
      continue;
    }
    for (const std::string& device : backend.manifest.devices) {
      const bool bare =
          std::find(backend.devices.begin(), backend.devices.end(), device) !=
          backend.devices.end();
      known += known.empty() ? "" : ", ";
      known += bare ? device : backend.name() + "/" + device;
    }
  }
  std::string text = known.empty() ? "none is known" : "known: " + known;
  text += rest + "; searched:";
  for (const SearchedPlace& place : discovery.places) {
    text += " " + place.directory.path + " (" + place.outcome + ")";
  }
  return text;
}

}  // namespace

Discovery Discover(const std::vector<SearchDirectory>& plugin_path,
                   const Selection& selection) {
  Scan scan = ScanPluginPath(plugin_path);
  Discovery discovery;
  discovery.diagnostics = std::move(scan.diagnostics);
  discovery.places = std::move(scan.places);
  Diagnostics& diagnostics = discovery.diagnostics;

  Claims claims;
  std::vector<int> backends(discovery.places.size());
  for (const Distribution& distribution : scan.distributions) {
    const SearchedPlace& place = discovery.places[distribution.place];
    for (const EntryPoint& entry_point : distribution.entry_points) {
      if (entry_point.group != kBackendGroup) continue;
      if (!IsPlainName(entry_point.name)) {
        diagnostics.push_back(
            {Diagnostic::Severity::kError, entry_point.file, entry_point.line,
             "ignored: " + Quoted(entry_point.name) +
                 " cannot name a backend: use letters, digits, \"_\", \"-\" "
                 "and \".\""});
        continue;
      }
      BackendCandidate candidate;
      candidate.entry_point = entry_point;
      candidate.directory = distribution.directory;
      candidate.manifest.devices = {entry_point.name};
      if (Status status = Complete(distribution, diagnostics, candidate);
          !status.ok()) {
        candidate.standing = Standing::kBroken;
        candidate.reason = status.message();
      }
      if (auto rule = selection.RuleAgainst(entry_point.name,
                                            place.directory.built_in)) {
        candidate.standing = Standing::kDisabled;
        candidate.reason = *std::move(rule);
      }
      claims.Settle(candidate, diagnostics);
      if (!candidate.usable()) {
        const bool broken = candidate.standing == Standing::kBroken;
        diagnostics.push_back({broken ? Diagnostic::Severity::kError
                                      : Diagnostic::Severity::kNote,
                               entry_point.file, entry_point.line,
                               "the backend " + candidate.name() +
                                   " is not used: " + candidate.reason});
      }
      ++backends[distribution.place];
      discovery.backends.push_back(std::move(candidate));
    }
  }
  for (size_t i = 0; i < backends.size(); ++i) {
    if (!discovery.places[i].searched) continue;
    discovery.places[i].outcome +=
        ", " + std::to_string(backends[i]) +
        (backends[i] == 1 ? " backend" : " backends");
  }
  return discovery;
}

Result<const BackendCandidate*> FindBackend(const Discovery& discovery,
                                            const DeviceName& device) {
  const BackendCandidate* unusable = nullptr;
  for (const BackendCandidate& backend : discovery.backends) {
    if (!Offers(backend, device)) continue;
    if (backend.usable()) return &backend;
    // Of those that cannot serve, one that is in force says more than one
    // that somebody switched off.
    if (unusable == nullptr || unusable->standing == Standing::kDisabled) {
      unusable = &backend;
    }
  }
  if (unusable != nullptr) return Unavailable(*unusable, device);
  return Status(Code::kNotFound, "there is no device " +
                                     Quoted(device.ToString()) + "; " +
                                     WhatThereIs(discovery));
}

Result<OpenedBackend> OpenBackend(const BackendCandidate& backend) {
  OpenedBackend opened;
  ASSIGN_OR_RETURN(opened.directory, OpenDirectory(backend.directory));
  ASSIGN_OR_RETURN(opened.plugin, OpenRegularFileBeneath(opened.directory.get(),
                                                         backend.plugin_path));
  return opened;
}

std::string LoadFailureMessage(const EntryPoint& entry_point,
                               const std::string& cause) {
  const std::string distribution =
      entry_point.distribution +
      (entry_point.version.empty() ? "" : " " + entry_point.version);
  return "Failed to load the backend extension: " + entry_point.name + " (" +
         distribution + ", " + entry_point.file + "): " + cause +
         ". You can disable extension autoloading with " +
         std::string(kAutoloadVariable) + "=0.";
}

}  // namespace bulkhead::discovery
